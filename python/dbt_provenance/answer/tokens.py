"""The tokeniser in Python: the twin of macros/search/tokens.sql, step by step, so that both give the same tokens.

Words first, then camelCase, then lower case. Accents are folded on Latin, Greek and Cyrillic, marks of every other script
stay with their word, runs of Chinese, Japanese and Korean become overlapping pairs, emoji and punctuation separate.
"""

import re

from .token_characters import CHARACTERS

__all__ = ["tokens", "words"]


def _class(ranges: list[str]) -> str:
    """The inside of a character class from ranges such as 0000C0-0000D6."""
    return r"\U00" + " ".join(ranges).replace("-", r"-\U00").replace(" ", r"\U00")


_CJK = f"[{_class(CHARACTERS['cjk'])}]"
_DROPPED = re.compile(f"[{_class(CHARACTERS['dropped'])}]+")
_SEPARATORS = re.compile(rf"[^\x00-\x7F{_class(CHARACTERS['letters'])}]+")
_CAMEL = re.compile(r"([a-z][0-9]*)([A-Z])")
_ACRONYM = re.compile(r"([A-Z][0-9]*)([A-Z](?:[a-rt-z]|s[a-z]))")  # KPIs and IDs stay whole
_CJK_LETTER = re.compile(f"({_CJK})")
_CJK_RUN = re.compile(f"{_CJK} ((?:{_CJK}{{2}} )+){_CJK}|({_CJK}) {_CJK}")
_WORD = re.compile(r"[a-z0-9\x80-\U0010FFFF]+")
_JOINED = re.compile(r"[a-z0-9_.\x80-\U0010FFFF]+")

_FOLD = str.maketrans({char: to for group in CHARACTERS["folds"] for row in group["rows"] for char, to in zip(*row)})
_LOWER = str.maketrans({chr(upper): chr(upper + 32) for upper in range(65, 91)} | dict(CHARACTERS["expansions"]))


def tokens(text: str) -> list[str]:
    """The words, then each whole identifier: `metric.net_revenue` gives metric, net, revenue, metric.net_revenue, net_revenue."""
    identifiers = [run.strip("._") for run in _JOINED.findall(_folded(text).translate(_LOWER))]
    dotted = [identifier for identifier in identifiers if "." in identifier]
    segments = [segment.strip("_") for identifier in identifiers for segment in identifier.split(".")]
    return words(text) + dotted + [segment for segment in segments if "_" in segment]


def words(text: str) -> list[str]:
    """The parts alone, in order and with repeats: what must stand contiguous in a question."""
    split = _ACRONYM.sub(r"\1 \2", _CAMEL.sub(r"\1 \2", _folded(text)))
    return _WORD.findall(_cjk_pairs(split.translate(_LOWER)))


def _folded(text: str) -> str:
    """Accents off, and a blank for whatever beyond ASCII separates words."""
    return _SEPARATORS.sub(" ", _DROPPED.sub("", text).translate(_FOLD))


def _cjk_pairs(text: str) -> str:
    """净收入 to 净 净收 收入 入, then without the ends of the run; a single one, 净 净, to one 净."""
    return _CJK_RUN.sub(r" \1\2 ", _CJK_LETTER.sub(r"\1 \1", text))
