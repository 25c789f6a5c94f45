"""The tokeniser: one golden file, and SQL on DuckDB equal to Python on whatever text comes."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import duckdb
import jinja2
import pytest
from dbt_provenance.answer.token_characters import CHARACTERS
from dbt_provenance.answer.tokens import tokens, words
from hypothesis import given, settings
from hypothesis import strategies as st

REPOSITORY = Path(__file__).resolve().parents[1]
MACROS = [REPOSITORY / "macros/search" / name for name in ("token_characters.sql", "tokens.sql")]
GOLDEN = json.loads((REPOSITORY / "tests/data/tokens_golden.json").read_text("utf-8"))

Both = tuple[list[str], list[str]]


class Package:
    """The macros as dbt calls them, dbt_provenance.<name>: plain Jinja with the four names of dbt that they use."""

    def __init__(self, adapter_type: str) -> None:
        def dispatch(name: str, package: str) -> Callable[[str], str]:
            return getattr(self, f"{adapter_type}__{name}", None) or getattr(self, f"default__{name}")

        environment = jinja2.Environment(extensions=["jinja2.ext.do"])
        environment.globals |= {
            "dbt_provenance": self,
            "adapter": SimpleNamespace(dispatch=dispatch, type=lambda: adapter_type),
            "exceptions": SimpleNamespace(raise_compiler_error=self._refuse),
            "fromjson": json.loads,
            "return": lambda value: value,
        }
        # Like dbt, a prefix: Jinja hides a module's names that begin with an underscore.
        source = re.sub(r"\{% macro (\w+)", r"{% macro dbt_macro__\1", "".join(path.read_text("utf-8") for path in MACROS))
        self._module = environment.from_string(source).module

    def __getattr__(self, name: str) -> Callable[[str], str]:
        return getattr(self._module, f"dbt_macro__{name}")

    @staticmethod
    def _refuse(message: str) -> None:
        raise ValueError(message)


@pytest.fixture(scope="module")
def in_sql() -> Callable[[list[str | None]], list[Both]]:
    """Tokens and words of texts by the rendered macros, as expressions over a column."""
    package = Package("duckdb")
    connection = duckdb.connect()
    query = f"select {package.tokens('line')}, {package.words('line')} from (select unnest(?::varchar[]) as line)"
    return lambda texts: connection.execute(query, [texts]).fetchall()


def in_python(texts: list[str]) -> list[Both]:
    return [(tokens(text), words(text)) for text in texts]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["about"])
def test_golden_file_in_sql_and_in_python(case, in_sql):
    expected = [(case["tokens"], case["words"])]
    assert in_sql([case["text"]]) == expected
    assert in_python([case["text"]]) == expected


def test_every_code_point_gives_the_same_in_sql_and_in_python(in_sql):
    # Beyond these planes nothing is assigned. Each stands between a small letter and a capital, and ends an identifier.
    points = [*range(0xD800), *range(0xE000, 0x40000), *range(0xE0000, 0xE1000), *range(0x10FF00, 0x110000)]
    texts = [" ".join(f"a{chr(p)}B c_{chr(p)}" for p in points[i : i + 512]) for i in range(0, len(points), 512)]
    for text, from_sql, from_python in zip(texts, in_sql(texts), in_python(texts)):
        assert from_sql == from_python, f"U+{ord(text[1]):04X} and following"


HOSTILE = st.sampled_from(
    ["'", "''", '"', "\\", "\\1", "$1", "{{", "%", "_", ".", "._", "__", " ", "\n", "\0", "\t", "A", "a", "s", "0", "AB", "Cd", "é", "e\u0301", "ß", "Œ"]
    + ["İ", "ı", "ς", "Σ", "й", "Ё", "净", "収入", "ー", "매출", "का", "\u200d", "\u200b", "\ufe0f", "👩\u200d💻", "ได้", "שָׁ", "．", "＿", "Ａ", "𠮷", "𞤀"]
)  # fmt: skip
TEXT = st.one_of(st.text(), st.lists(HOSTILE).map("".join), st.lists(st.one_of(HOSTILE, st.characters())).map("".join))


@settings(deadline=None, max_examples=100)
@given(st.lists(TEXT, min_size=1, max_size=20))
def test_any_text_gives_the_same_in_sql_and_in_python(in_sql, texts):
    assert in_sql(texts) == in_python(texts)


@given(TEXT)
def test_tokens_are_the_words_and_then_whole_identifiers_made_of_them(text):
    parts, all_tokens = words(text), tokens(text)
    assert all_tokens[: len(parts)] == parts
    for identifier in all_tokens[len(parts) :]:
        assert identifier == identifier.strip("._") and re.search(r"[._]", identifier)
    assert not any(re.search(r"[\x00-/:-@A-Z\[-`{-\x7f]", part) for part in parts)


@given(TEXT)
def test_tokenising_again_changes_nothing(text):
    assert [token for part in words(text) for token in words(part)] == words(text)


@pytest.mark.parametrize("piece", ["a", "A", "aB", "_", ".", "a.", "a_", "净", "净 ", "é", "\u0301"])
def test_a_very_long_text_takes_no_longer_than_its_length(piece, in_sql):
    text = piece * (100_000 // len(piece))
    assert in_sql([text]) == in_python([text])


def test_null_gives_empty_lists_and_a_table_macro_takes_an_argument():
    package = Package("duckdb")
    connection = duckdb.connect()
    body = f"select {package.tokens('query')} as all_tokens, {package.words('query')} as parts"
    connection.execute(f"create macro split_query(query) as table {body}")
    assert connection.execute("select * from split_query(null)").fetchall() == [([], [])]
    assert connection.execute("select * from split_query('Café.a_b')").fetchall() == [
        (["cafe", "a", "b", "cafe.a_b", "a_b"], ["cafe", "a", "b"])
    ]
    assert connection.execute("select * from split_query(?)", ["净收入's"]).fetchall() == [(["净收", "收入", "s"],) * 2]


def test_sql_and_python_carry_the_same_tables():
    assert json.loads(Package("duckdb")._token_characters()) == CHARACTERS


@pytest.mark.parametrize(
    ("language", "path"), [("sql", MACROS[0]), ("python", Path("python/dbt_provenance/answer/token_characters.py"))]
)
def test_the_tables_are_what_the_generator_prints(language, path):
    unicode_data = pytest.importorskip("unicodedata2", reason="pip install unicodedata2, at the version the generator names")
    if unicode_data.unidata_version != CHARACTERS["unicode"]:
        pytest.skip(f"needs unicodedata2=={CHARACTERS['unicode']}")
    printed = subprocess.run(
        [sys.executable, REPOSITORY / "tools/generate_token_ranges.py", language], capture_output=True, check=True
    )
    assert printed.stdout.decode() == (REPOSITORY / path).read_text("utf-8")
