"""The reference ranker: BM25 in Python over rows that SQL has already filtered.

It serves where a warehouse has no table functions, and it is the oracle of a test: the search function gives the same integers.
Formula: Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), k1 = 1.2, b = 0.75, with the idf of Lucene,
ln(1 + (N - n + 0.5) / (n + 0.5)), which is always positive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import UsageError
from .tokens import tokens

NAME_WEIGHT, SYNONYM_WEIGHT, TITLE_WEIGHT, TEXT_WEIGHT = 4, 4, 2, 1
QUERY_TERMS = 64


@dataclass(frozen=True)
class Ranked:
    """A document with its score in millionths: a sum of whole numbers, so the same on every engine and in every run."""

    document_id: str
    millionths: int


def bag_of(*, name: str, title: str = "", text: str = "", synonyms: Sequence[str] = (), columns: Sequence[str] = ()) -> list[str]:
    """The weighted bag of a document: each field's tokens, as often as the field weighs."""
    bag = tokens(name) * NAME_WEIGHT + tokens(title) * TITLE_WEIGHT + tokens(text) * TEXT_WEIGHT
    return bag + tokens(" , ".join(synonyms)) * SYNONYM_WEIGHT + [token for column in columns for token in tokens(column)]


def rank(query: str, bags: Mapping[str, Sequence[str]], *, limit: int | None = None) -> list[Ranked]:
    """Documents that share a term with the query, best first; equal scores in code-point order of their ids.

    `bags` holds the visible documents alone: every statistic is taken over them. Raises UsageError when rank_bm25 is not installed.
    """
    terms = list(dict.fromkeys(tokens(query)))[:QUERY_TERMS]
    ids = [one for one, bag in bags.items() if bag]
    if not terms or not ids:
        return []
    scores = _model([list(bags[one]) for one in ids]).millionths(terms, mean_over=len(bags))
    found = [Ranked(one, score) for one, score in zip(ids, scores) if score is not None]
    return sorted(found, key=lambda one: (-one.millionths, one.document_id))[:limit]


def _model(corpus: list[list[str]]) -> Any:
    try:
        from rank_bm25 import BM25Okapi
    except ImportError:
        raise UsageError("The reference ranker needs rank_bm25. Install it: pip install 'dbt_provenance[ranker]'") from None
    from math import floor, log

    class Reference(BM25Okapi):
        """rank_bm25's counting of documents and terms, with the idf and the rounding of this package."""

        def _calc_idf(self, nd: Mapping[str, int]) -> None:
            self.document_frequency = dict(nd)

        def millionths(self, terms: Sequence[str], *, mean_over: int) -> list[int | None]:
            mean_length = sum(self.doc_len) / mean_over
            return [self._score(Counter(frequencies), length, terms, mean_over, mean_length) for frequencies, length in zip(self.doc_freqs, self.doc_len)]

        def _score(self, frequencies: Counter[str], length: int, terms: Sequence[str], documents: int, mean_length: float) -> int | None:
            found = [term for term in terms if frequencies[term]]
            if not found:
                return None
            return sum(self._contribution(frequencies[term], length, self.document_frequency[term], documents, mean_length) for term in found)

        def _contribution(self, frequency: int, length: int, having: int, documents: int, mean_length: float) -> int:
            idf = log(1 + (documents - having + 0.5) / (having + 0.5))
            return floor(1e6 * idf * frequency * (self.k1 + 1) / (frequency + self.k1 * (1 - self.b + self.b * length / mean_length)) + 0.5)

    return Reference(corpus, k1=1.2, b=0.75)
