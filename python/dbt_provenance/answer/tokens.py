"""The tokeniser in Python: the twin of macros/search/tokens.sql, step by step, so that both give the same tokens.

Words first, then camelCase, then lower case. Latin, Greek and Cyrillic lose their accents, marks of every other script stay with
their word, a run of Chinese, Japanese or Korean becomes overlapping pairs, emoji and punctuation separate.
"""

import re
from functools import cache

from .token_characters import CHARACTERS

__all__ = ["tokens", "words"]


def tokens(text: str) -> list[str]:
    """The words, then the whole identifiers: `metric.net_revenue` gives metric, net, revenue, metric.net_revenue, net_revenue."""
    folded = _folded(text)
    return _words_of(folded) + _identifiers_of(folded)


def words(text: str) -> list[str]:
    """The parts alone, in order and with repeats: to find a name in one contiguous span."""
    return _words_of(_folded(text))


def _class(ranges: list[str]) -> str:
    """The inside of a character class from ranges such as 0000C0-0000D6."""
    return r"\U00" + " ".join(ranges).replace("-", r"-\U00").replace(" ", r"\U00")


_CAMEL_CASE = re.compile(r"([a-z][0-9]*)([A-Z])")
_ACRONYM = re.compile(r"([A-Z][0-9]*)([A-Z](?:[a-rt-z]|s[a-z]))")
_WORD = re.compile(r"[a-z0-9\x80-\U0010FFFF]+")
_JOINED = re.compile(r"[_.a-z0-9\x80-\U0010FFFF]+")
_LOWER = str.maketrans({chr(upper): chr(upper + 32) for upper in range(65, 91)} | dict(CHARACTERS["expansions"]))


class _BeyondASCII:
    """Patterns over the tables of characters: made when the first text needs them, for they take 30 ms."""

    def __init__(self) -> None:
        cjk = f"[{_class(CHARACTERS['cjk'])}]"
        self.dropped = re.compile(f"[{_class(CHARACTERS['dropped'])}]+")
        self.separators = re.compile(rf"[^\x00-\x7F{_class(CHARACTERS['letters'])}]+")
        self.cjk_then_latin = re.compile(f"({cjk})([A-Za-z0-9])")
        self.latin_then_cjk = re.compile(f"([A-Za-z0-9])({cjk})")
        self.cjk_letter = re.compile(f"({cjk})")
        self.cjk_run = re.compile(f"{cjk} ((?:{cjk}{{2}} )+){cjk}|({cjk}) {cjk}")
        self.fold = str.maketrans({char: to for group in CHARACTERS["folds"] for row in group["rows"] for char, to in zip(*row)})


_beyond_ascii = cache(_BeyondASCII)


def _folded(text: str) -> str:
    """Accents off, a blank for whatever beyond ASCII separates words, CJK cut off from Latin; of upper case only A-Z is left."""
    if text.isascii():
        return text
    by = _beyond_ascii()
    folded = by.separators.sub(" ", by.dropped.sub("", text).translate(by.fold))
    return by.latin_then_cjk.sub(r"\1 \2", by.cjk_then_latin.sub(r"\1 \2", folded))


def _words_of(folded: str) -> list[str]:
    """fctOrders is fct, orders and HTTPServer is http, server; KPIs, A1B2 and v2 stay whole."""
    parts = _ACRONYM.sub(r"\1 \2", _CAMEL_CASE.sub(r"\1 \2", folded)).translate(_LOWER)
    return _WORD.findall(_pairs(parts))


def _pairs(parts: str) -> str:
    """净收入 to 净 净收 收入 入, then without the ends of the run; a single one, 净 净, to 净."""
    if parts.isascii():
        return parts
    by = _beyond_ascii()
    return by.cjk_run.sub(r" \1\2 ", by.cjk_letter.sub(r"\1 \1", parts))


def _identifiers_of(folded: str) -> list[str]:
    """What holds a dot, then each run between dots that holds an underscore."""
    joined = [run.strip("._") for run in _JOINED.findall(folded.translate(_LOWER))]
    between_dots = [part.strip("_") for run in joined for part in run.split(".")]
    return [run for run in joined if "." in run] + [part for part in between_dots if "_" in part]
