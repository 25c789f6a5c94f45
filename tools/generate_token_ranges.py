"""Print the character tables of the tokeniser, derived from one pinned Unicode version.

    pip install unicodedata2==18.0.0
    python tools/generate_token_ranges.py sql    > macros/search/token_characters.sql
    python tools/generate_token_ranges.py python > python/dbt_provenance/answer/token_characters.py

Both files carry the same JSON object:

letters     what belongs to a word beyond ASCII: letters, marks and decimal digits of every script
dropped     what leaves no trace: accents that stand alone, joiners, direction marks
cjk         scripts written without blanks whose runs become bigrams
folds       one character for another, in groups so that a text pays only for those it uses: accents off
            (Latin keeps its case, camelCase needs it), every other cased letter to lower case
expansions  one lower-case letter for several

Ranges are six hex digits, FIRST-LAST, both included; a narrow gap of unassigned points between two letters is bridged.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable

import unicodedata2 as unicode_data

UNICODE = "18.0.0"
Range = tuple[int, int]

DROPPED: list[Range] = [
    (0x00AD, 0x00AD), (0x0300, 0x036F), (0x061C, 0x061C), (0x180B, 0x180F), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF),
    (0x200C, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x20D0, 0x20FF), (0xFE00, 0xFE0F), (0xFE20, 0xFE2F),
    (0xFEFF, 0xFEFF), (0xE0100, 0xE01EF),
]  # fmt: skip
# Whole blocks: what is no letter in them is a blank before they are looked at.
CJK: list[Range] = [
    (0x1100, 0x11FF), (0x3005, 0x9FFF), (0xA960, 0xA97F), (0xAC00, 0xD7FF), (0xF900, 0xFAFF), (0xFF66, 0xFFDC),
    (0x1AFF0, 0x1B16F), (0x20000, 0x3FFFF),
]  # fmt: skip
IDEOGRAPHIC_ZERO = 0x3007  # counts as a number in Unicode, as a letter in a text
FULL_WIDTH_JOINERS = "．＿"  # no letters, but they join the words of an identifier
EXPANSIONS = {"ß": "ss", "æ": "ae", "œ": "oe"}
FOLD_GROUPS: dict[str, list[Range]] = {
    "latin_1": [(0x80, 0xFF)], "latin_beyond": [(0x100, 0x2FF), (0x1E00, 0x1EFF)], "greek_and_cyrillic": [(0x370, 0x52F)],
    "other": [(0x80, 0x10FFFF)],
}  # fmt: skip
BASE_LETTER = re.compile(r"LATIN (CAPITAL|SMALL) LETTER (?:DOTLESS )?([A-Z])(?: WITH (?!SMALL).*)?")


def characters() -> dict[str, object]:
    """All tables as one JSON object."""
    return {
        "unicode": UNICODE,
        "letters": as_lines(ranges(filter(is_letter, range(0x80, 0x110000)), bridge=is_unassigned)),
        "dropped": as_lines(DROPPED),
        "cjk": as_lines(CJK),
        "folds": list(fold_groups()),
        "expansions": [list(pair) for pair in EXPANSIONS.items()],
    }


def is_letter(point: int) -> bool:
    kept = unicode_data.category(chr(point))[0] in "LM" or unicode_data.category(chr(point)) == "Nd"
    return (kept or point == IDEOGRAPHIC_ZERO) and not is_in(point, DROPPED)


def is_in(point: int, within: list[Range]) -> bool:
    return any(first <= point <= last for first, last in within)


def is_unassigned(point: int) -> bool:
    return unicode_data.category(chr(point)) == "Cn"


def fold_groups() -> Iterable[dict[str, object]]:
    letters = [chr(point) for point in range(0x80, 0x110000) if is_letter(point)] + list(FULL_WIDTH_JOINERS)
    todo = {char: fold(char) for char in sorted(letters) if fold(char) != char}
    for name, within in FOLD_GROUPS.items():
        group = {char: todo.pop(char) for char in list(todo) if is_in(ord(char), within)}
        near = ranges(map(ord, group), bridge=lambda point: is_letter(point) or is_unassigned(point))
        yield {"name": name, "near": as_lines(near), "rows": as_rows(group)}


def fold(char: str) -> str:
    """The one character that stands for this one in a token; Latin keeps its case until camelCase is split."""
    base = without_accents(char)
    name = unicode_data.name(base, "")
    if latin := BASE_LETTER.fullmatch(name):
        return latin[2] if latin[1] == "CAPITAL" else latin[2].lower()
    return base if base.isascii() else "σ" if base == "ς" else lower(base)


def without_accents(char: str) -> str:
    """Latin, Greek and Cyrillic letters and full-width ASCII by their decomposition, anything else unchanged."""
    tag = unicode_data.decomposition(char).partition(" ")[0]
    if tag.startswith("<") and tag not in ("<compat>", "<wide>"):
        return char
    parts = [part for part in unicode_data.normalize("NFKD", char) if not 0x300 <= ord(part) <= 0x36F]
    foldable = len(parts) == 1 and unicode_data.name(parts[0], "").startswith(("LATIN ", "GREEK ", "CYRILLIC "))
    return parts[0] if foldable or (tag == "<wide>" and parts[0].isascii()) else char


def lower(char: str) -> str:
    """By the interpreter; a capital it does not know yet, by name."""
    if len(char.lower()) == 1 and char.lower() != char:
        return char.lower()
    try:
        return unicode_data.lookup(unicode_data.name(char, "").replace(" CAPITAL LETTER ", " SMALL LETTER "))
    except KeyError:
        return char


def ranges(points: Iterable[int], bridge: Callable[[int], bool], widest: int = 0x100) -> list[Range]:
    """Neighbours as one range, also across a narrow gap of points that `bridge` accepts."""
    found: list[Range] = []
    for point in points:
        gap = range(found[-1][1] + 1, point) if found else None
        if gap is not None and len(gap) < widest and all(map(bridge, gap)):
            found[-1] = (found[-1][0], point)
        else:
            found.append((point, point))
    return found


def as_lines(found: list[Range]) -> list[str]:
    texts = [f"{first:06X}" if first == last else f"{first:06X}-{last:06X}" for first, last in found]
    return [" ".join(texts[start : start + 7]) for start in range(0, len(texts), 7)]


def as_rows(group: dict[str, str]) -> list[list[str]]:
    pairs = list(group.items())
    return [["".join(side) for side in zip(*pairs[start : start + 45])] for start in range(0, len(pairs), 45)]


FILES = {
    "sql": """\
{{#- Generated by tools/generate_token_ranges.py: do not edit. The tables of the tokeniser as one JSON object. -#}}
{{% macro _token_characters() %}}{{% raw %}}
{tables}
{{% endraw %}}{{% endmacro %}}
""",
    "python": """\
# Generated by tools/generate_token_ranges.py: do not edit.
# ruff: noqa
# fmt: off
\"\"\"The tables of the tokeniser, the same object that the dbt macro `_token_characters` holds.\"\"\"

from typing import Any

CHARACTERS: dict[str, Any] = \\
{tables}
""",
}

if __name__ == "__main__":
    if unicode_data.unidata_version != UNICODE:
        sys.exit(f"Unicode {unicode_data.unidata_version} is installed; run: pip install unicodedata2=={UNICODE}")
    tables = json.dumps(characters(), ensure_ascii=False, indent=1)
    tables = re.sub(r'\[\s+("[^"]*"),\s+("[^"]*")\s+\]', r"[\1, \2]", tables)
    print(FILES[sys.argv[1]].format(tables=tables), end="")
