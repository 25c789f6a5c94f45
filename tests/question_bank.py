"""The question bank: asking each question, judging the envelope, and the figures of a slice.

The bank (data/question_bank.json) was written by someone who had not read the code, from the rules and the data alone; nothing is
tuned on it.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BANK = Path(__file__).parent / "data" / "question_bank.json"


@dataclass(frozen=True)
class Judged:
    """One question with what was expected and what came; `faults` is empty when it is right."""

    item: Mapping[str, Any]
    envelope: Mapping[str, Any]
    faults: tuple[str, ...]


def read_bank() -> list[dict[str, Any]]:
    return json.loads(BANK.read_text(encoding="utf-8"))


def judge(item: Mapping[str, Any], envelope: Mapping[str, Any]) -> Judged:
    """What is wrong with an envelope: outcome, what is missing, the entity and version that govern, what must and must not be there."""
    expect = item["expect"]
    faults = [f"{key} is {envelope.get(key)}, not {expect[key]}" for key in ("outcome", "missing") if key in expect and envelope.get(key) != expect[key]]
    if "entity_id" in expect and envelope.get("entity_id") != expect["entity_id"]:
        faults.append(f"entity is {envelope.get('entity_id')}, not {expect['entity_id']}")
    if "version" in expect and envelope.get("definition_version") != expect["version"]:
        faults.append(f"version is {envelope.get('definition_version')}, not {expect['version']}")
    if "conflict_entity_or_title" in expect and expect["conflict_entity_or_title"].lower() not in json.dumps(envelope.get("conflicts"), ensure_ascii=False).lower():
        faults.append(f"{expect['conflict_entity_or_title']} is not among the conflicts")
    shown = json.dumps({key: value for key, value in envelope.items() if key != "question"}, ensure_ascii=False)
    faults += [f"LEAK: {text}" for text in expect.get("forbidden", ()) if text in shown]
    return Judged(item, envelope, tuple(faults))


def wilson(right: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """The 95% interval of a share (Wilson, 1927)."""
    share, square = right / total, z * z
    middle = (share + square / (2 * total)) / (1 + square / total)
    spread = z * math.sqrt(share * (1 - share) / total + square / (4 * total * total)) / (1 + square / total)
    return max(0.0, middle - spread), min(1.0, middle + spread)


def by_slice(judged: Iterable[Judged], right: Callable[[Judged], bool]) -> dict[str, tuple[int, int]]:
    """Slice -> (right, total)."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for one in judged:
        counts[one.item["slice"]][0] += right(one)
        counts[one.item["slice"]][1] += 1
    return {name: (right_count, total) for name, (right_count, total) in sorted(counts.items())}


def clarify_figures(judged: Iterable[Judged]) -> tuple[float, float]:
    """Precision and recall of the outcome clarify."""
    pairs = [(one.item["expect"]["outcome"] == "clarify", one.envelope["outcome"] == "clarify") for one in judged]
    both = sum(wanted and got for wanted, got in pairs)
    return both / max(1, sum(got for _, got in pairs)), both / max(1, sum(wanted for wanted, _ in pairs))


def report(judged: list[Judged]) -> str:
    """The figures as a Markdown table."""
    outcomes = by_slice(judged, lambda one: one.envelope["outcome"] == one.item["expect"]["outcome"])
    wholly = by_slice(judged, lambda one: not one.faults)
    lines = ["| slice | questions | outcome right | 95% interval | wholly right |", "| --- | --- | --- | --- | --- |"]
    for name, (right, total) in outcomes.items():
        low, high = wilson(right, total)
        lines.append(f"| {name} | {total} | {right / total:.3f} | {low:.3f} to {high:.3f} | {wholly[name][0] / total:.3f} |")
    right, total = sum(one for one, _ in outcomes.values()), len(judged)
    low, high = wilson(right, total)
    precision, recall = clarify_figures(judged)
    lines.append(f"| all | {total} | {right / total:.3f} | {low:.3f} to {high:.3f} | {sum(one for one, _ in wholly.values()) / total:.3f} |")
    return "\n".join([*lines, "", f"Clarify: precision {precision:.3f}, recall {recall:.3f}."])
