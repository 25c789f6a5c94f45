"""Ranking baselines on the worked example (net_revenue_gold.json), to measure this system against.

Each ranking maps a question id to the ids of the documents its role may read, best first; `measure`
turns any such mapping into the same two figures. Statistics are over all documents; the role filter comes last.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

K1, B, FUSION_CONSTANT = 1.5, 0.75, 60
STATUS_BONUS = {"authoritative": 0.02, "draft": -0.005, "superseded": -0.01}
Rankings = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Gold:
    documents: tuple[dict, ...]
    questions: tuple[dict, ...]

    @property
    def texts(self) -> list[str]:
        return [f"{document['title']} {document['text']}" for document in self.documents]


@dataclass(frozen=True)
class Figures:
    """Shares from 0 to 1, over the questions that have a selected source."""

    right_source_first: float
    required_in_first_three: float


def read_gold(path: Path) -> Gold:
    content = json.loads(path.read_text(encoding="utf-8"))
    return Gold(tuple(content["corpus"]), tuple(content["gold"]))


def measure(gold: Gold, rankings: Rankings) -> Figures:
    """The two figures of any system. A question that is not in `rankings`, or has an empty list, scores zero."""
    first, required = [], []
    for question in (question for question in gold.questions if question["selected"]):
        top = list(rankings.get(question["id"], ()))[:3]
        first.append(top[:1] == [question["selected"]])
        required.append(np.mean([document_id in top for document_id in question["required"]]))
    return Figures(float(np.mean(first)), float(np.mean(required)))


def rank(gold: Gold, score: Callable[[Gold, dict], np.ndarray]) -> Rankings:
    """Order all documents by score (one number a document), then keep those the question's role may read."""
    rankings = {}
    for question in gold.questions:
        ordered = (gold.documents[index] for index in np.argsort(-score(gold, question)))
        rankings[question["id"]] = [found["id"] for found in ordered if question["role"] in found["acl"]]
    return rankings


def bm25(gold: Gold, question: dict) -> np.ndarray:
    """Okapi BM25 with an idf that is never negative; a token repeated in the query counts each time."""
    documents = [_tokens(text) for text in gold.texts]
    lengths = np.array([len(tokens) for tokens in documents])
    norm = K1 * (1 - B + B * lengths / lengths.mean())
    scores = np.zeros(len(documents))
    for token in _tokens(question["query"]):
        tf = np.array([tokens.count(token) for tokens in documents])
        n = np.count_nonzero(tf)
        idf = np.log(1 + (len(documents) - n + 0.5) / (n + 0.5))
        scores += idf * tf * (K1 + 1) / (tf + norm)
    return scores


def lsa(gold: Gold, question: dict) -> np.ndarray:
    """Cosine in the space of the first eight singular vectors of TF-IDF over one and two word grams."""
    vectorizer = TfidfVectorizer(lowercase=True, token_pattern=r"(?u)\b[\w\.\-']+\b", ngram_range=(1, 2))
    svd = TruncatedSVD(n_components=8, random_state=0)
    documents = normalize(svd.fit_transform(vectorizer.fit_transform(gold.texts)))
    return documents @ normalize(svd.transform(vectorizer.transform([question["query"]])))[0]


def fused(gold: Gold, question: dict) -> np.ndarray:
    """Reciprocal rank fusion (Cormack, Clarke and Buettcher, 2009) of BM25 and LSA."""
    return sum(1 / (FUSION_CONSTANT + _ranks(score(gold, question))) for score in (bm25, lsa))


def fused_with_bonuses(gold: Gold, question: dict) -> np.ndarray:
    """The fused score plus a bonus for validity on the date and for status."""
    bonuses = [
        (0.05 if _holds(document, question["as_of"]) else -0.10) + STATUS_BONUS.get(document["status"], 0.0)
        for document in gold.documents
    ]
    return fused(gold, question) + np.array(bonuses)


def _tokens(text: str) -> list[str]:
    return re.findall(r"[a-z0-9_\.']+", text.lower())


def _ranks(scores: np.ndarray) -> np.ndarray:
    """Rank of each document, 1 is best."""
    return 1 + np.argsort(np.argsort(-scores))


def _holds(document: dict, as_of: str | None) -> bool:
    """Half-open, on ISO dates; without a date every document holds."""
    return as_of is None or document["valid_from"] <= as_of < (document["valid_to"] or "9999-12-31")
