"""What holds on a date, as known on a day: resolve against an oracle in plain Python, over random histories and named ones."""

import datetime as dt
import os
import random
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from package_sql import Warehouse

START = dt.datetime(2025, 1, 1, 9)
DAY = dt.timedelta(days=1)
RANKS = {"authoritative": 1, "approved": 2, None: 3, "deprecated": 4}
Document = dict[str, Any]


# what happened


@dataclass
class Entity:
    """An entity and the captured states of the resources that speak of it: instant, unique_id, document (none: gone). In order of time."""

    entity_id: str
    states: list[tuple[dt.datetime, str, Document | None]] = field(default_factory=list)

    def add(self, at: dt.datetime, unique_id: str, document: Document | None) -> None:
        self.states.append((at, unique_id, document))

    def known(self, known_at: dt.datetime) -> dict[str, list[tuple[dt.datetime, Document | None]]]:
        found: dict[str, list[tuple[dt.datetime, Document | None]]] = {}
        for at, unique_id, document in sorted(self.states, key=lambda one: one[0]):
            if at <= known_at:
                found.setdefault(unique_id, []).append((at, document))
        return found


def meta(document: Document, key: str) -> Any:
    place, prefix = ("front_matter", "") if document["resource_type"] == "page" else ("meta", "provenance_")
    return document.get(place, {}).get(prefix + key)


# the oracle


@dataclass(frozen=True)
class Row:
    """A statement that stands, for the dates from start to before end; none is open."""

    unique_id: str
    text: str
    start: dt.date | None
    end: dt.date | None
    may_govern: bool = True
    rank: tuple[int, int] = (3, 1)
    deprecated_from: dt.date | None = None
    only_when_asked: bool = False
    supersedes: str | None = None

    def holds(self, day: dt.date) -> bool:
        return not self.only_when_asked and (self.start is None or self.start <= day) and (self.end is None or day < self.end)


def declared_day(text: Any, *, is_end: bool) -> dt.date | None:
    if text is None or str(text).startswith("9999-12-31") or str(text).lower() == "infinity":
        return None
    moment = dt.datetime.fromisoformat(str(text))
    return moment.date() + (DAY if is_end and moment.time() != dt.time() else dt.timedelta(0))


def earliest(*days: dt.date | None) -> dt.date | None:
    return min((day for day in days if day is not None), default=None)


def text_of(document: Document) -> str:
    return document.get("body") or document["description"]


def has_interval(document: Document) -> bool:
    return any(key.removeprefix("provenance_") in ("valid_from", "valid_to") for key in (*document.get("meta", {}), *document.get("front_matter", {})))


def rank_of(document: Document) -> tuple[int, int]:
    is_page = document["resource_type"] == "page"
    kind = {"metric": 1, "model": 3, "page": 6}[document["resource_type"]]
    return RANKS.get("approved" if is_page and meta(document, "status") == "authoritative" else meta(document, "status"), 9), kind


def may_govern(document: Document) -> bool:
    status = meta(document, "status")
    return status != "draft" and not (document["resource_type"] == "page" and status in (None, "unspecified"))


def standing(entity: Entity, known_at: dt.datetime) -> list[Row]:
    """Everything that stands of an entity at an instant of knowing."""
    histories = entity.known(known_at)
    rows = [row for unique_id, history in histories.items() if not is_versioned(history) for row in rows_of(unique_id, history)]
    first = min((history[0][0] for history in histories.values() if is_versioned(history)), default=None)
    rows = [
        replace(row, start=histories[row.unique_id][0][0].date()) if first and row.start is None and first < histories[row.unique_id][0][0] else row for row in rows
    ]
    rows = closed_by_supersession(rows, {unique_id: newest(history) for unique_id, history in histories.items()})
    return rows + version_rows({unique_id: history for unique_id, history in histories.items() if is_versioned(history)}, histories)


def newest(history: list[tuple[dt.datetime, Document | None]]) -> Document:
    return next(document for _, document in reversed(history) if document is not None)


def is_versioned(history: list[tuple[dt.datetime, Document | None]]) -> bool:
    return "latest_version" in newest(history)


def gone_day(history: list[tuple[dt.datetime, Document | None]]) -> dt.date | None:
    return history[-1][0].date() if history[-1][1] is None else None


def rows_of(unique_id: str, history: list[tuple[dt.datetime, Document | None]]) -> list[Row]:
    document = newest(history)
    if document["resource_type"] == "page" and history[-1][1] is None:
        return []  # withdrawn
    about = {"may_govern": may_govern(document), "rank": rank_of(document), "supersedes": meta(document, "supersedes")}
    if has_interval(document):
        start, end = declared_day(meta(document, "valid_from"), is_end=False), declared_day(meta(document, "valid_to"), is_end=True)
        if start is not None and end is not None and start >= end:
            return [Row(unique_id, text_of(document), dt.date.max, dt.date.min, **about)]
        return [Row(unique_id, text_of(document), start, earliest(end, gone_day(history)), **about)]
    return observed_rows(unique_id, history)


def observed_rows(unique_id: str, history: list[tuple[dt.datetime, Document | None]]) -> list[Row]:
    """From the day each state was recorded to the day of the next; of a day the last holds. The states of the first day are open
    backwards; what follows a declared state, which said since when it holds, is not."""
    declared = [place for place, (_, document) in enumerate(history) if document is not None and has_interval(document)]
    chain = history[declared[-1] + 1 :] if declared else history
    while chain and chain[0][1] is None:
        chain = chain[1:]
    is_page = newest(history)["resource_type"] == "page"
    if is_page:
        gaps = [place for place, (_, document) in enumerate(chain) if document is None]
        chain_kept = chain[gaps[-1] + 1 :] if gaps else chain
    else:
        chain_kept = chain
    first_day = history[declared[-1]][0].date() if declared else chain[0][0].date()
    rows = []
    for place, (at, document) in enumerate(chain):
        if document is None or (at, document) not in chain_kept:
            continue
        following = [one for one in chain[place + 1 :] if one[1] is None or text_of(one[1]) != text_of(document)]
        until = following[0][0].date() if following else None
        later_opened = [one for one in chain[place + 1 :] if one[1] is not None and (one[0].date() == at.date())]
        repeats = place > 0 and chain[place - 1][1] is not None and text_of(chain[place - 1][1]) == text_of(document)
        if later_opened or repeats:
            continue
        rows.append(Row(unique_id, text_of(document), None if at.date() == first_day else at.date(), until, may_govern(document), rank_of(document), supersedes=meta(document, "supersedes")))
    return rows


def closed_by_supersession(rows: list[Row], documents: dict[str, Document]) -> list[Row]:
    """What another one supersedes, and still says so and may, ends where that one begins."""

    def closes(other: Row, row: Row) -> bool:
        last, version = documents[other.unique_id], meta(documents[row.unique_id], "version")
        return (
            other.unique_id != row.unique_id and version is not None and other.start != dt.date.max
            and other.supersedes == meta(last, "supersedes") == version and other.may_govern and may_govern(last)
        )  # fmt: skip

    return [replace(row, end=earliest(row.end, *(other.start or dt.date.min for other in rows if closes(other, row)))) for row in rows]


def version_rows(histories: dict[str, list[tuple[dt.datetime, Document | None]]], all_histories: dict[str, Any]) -> list[Row]:
    """dbt versions in order: each hands over on its deprecation date or when latest_version was first seen above it."""
    if not histories:
        return []
    ordered = sorted(histories, key=lambda unique_id: float(newest(histories[unique_id])["version"]))
    latest = float(max(((at, document["latest_version"]) for history in histories.values() for at, document in history if document is not None))[1])
    first_capture = min(history[0][0] for history in all_histories.values())
    rows, handed_over = [], []
    for place, unique_id in enumerate(ordered):
        history = histories[unique_id]
        document = newest(history)
        number = float(document["version"])
        seen = [(at, float(said["latest_version"])) for at, said in history if said is not None]
        passed = [at.date() for at, level in seen if level > number]
        reached = [at.date() for at, level in seen if level >= number]
        is_below_at_first = seen[0][1] > number
        deprecated = dt.date.fromisoformat(document["deprecation_date"]) if "deprecation_date" in document else None
        is_followed = place + 1 < len(ordered) and float(newest(histories[ordered[place + 1]])["version"]) <= latest
        # already below at the first capture and without a date of deprecation: no known interval
        is_unknown = is_below_at_first and deprecated is None
        handover = earliest(deprecated, min(passed, default=None)) if is_followed and not is_unknown else None
        if handed_over:
            start: dt.date | None = max(handed_over)
        elif reached and history[0][0] == first_capture and seen[0][1] >= number:
            start = None
        else:
            start = min(reached, default=None)
        asked = number > latest or (is_followed and is_unknown)
        rows.append(Row(unique_id, text_of(document), start, earliest(handover, gone_day(history)), rank=(3, 3), deprecated_from=deprecated, only_when_asked=asked))
        handed_over += [handover] if handover else []
    return rows


def decided(entity: Entity, day: dt.date, known_at: dt.datetime) -> tuple[str, str | None, str | None]:
    """Outcome, reason and text of resolve for a date."""
    rows = standing(entity, known_at)
    if not rows:
        return "not_found_or_not_authorized", "nothing_visible", None
    if not any(row.may_govern for row in rows):
        return "clarify", "only_non_governing", None
    holding = [row for row in rows if row.may_govern and row.holds(day)]
    if not holding:
        return "not_found_or_not_authorized", "no_version_on_date", None
    ranks = {row: (max(row.rank[0], 4) if row.deprecated_from and row.deprecated_from <= day else row.rank[0], row.rank[1]) for row in holding}
    best = [row for row in holding if ranks[row] == min(ranks.values())]
    if len({row.text for row in best}) > 1:
        return "conflict", "conflict", None
    return "resolved", "governs" if len(best) == 1 else "duplicate_equal", best[0].text


# random histories


class Draw:
    def __init__(self, dice: random.Random):
        self.dice, self.texts, self.entities = dice, 0, []

    def text(self) -> str:
        self.texts += 1
        return f"text {self.texts if self.dice.random() < 0.93 else 'again'}"

    def later(self, at: dt.datetime) -> dt.datetime:
        """A moment later on the same day, or some days on; also around midnight."""
        if self.dice.random() < 0.25:
            return at + dt.timedelta(minutes=self.dice.randint(1, 60))
        return (at + self.dice.randint(1, 15) * DAY).replace(hour=self.dice.choice([0, 9, 15, 23]), minute=self.dice.choice([0, 30, 59]))

    def date(self, *, is_end: bool = False) -> str | None:
        day = dt.date(2024, 10, 1) + self.dice.randint(0, 180) * DAY
        return self.dice.choice([day.isoformat(), day.isoformat(), day.isoformat(), f"{day}T08:30:00"] + (["9999-12-31", None] if is_end else []))

    def governance(self, entity_id: str, version: str, *, dated: float) -> Document:
        dice, found = self.dice, {"entity": entity_id, "version": version}
        if dice.random() < dated:
            found |= {"valid_from": self.date()} if dice.random() < 0.9 else {}
            found |= {"valid_to": self.date(is_end="valid_from" in found)} if dice.random() < 0.4 or "valid_from" not in found else {}
        if dice.random() < 0.4:
            found["supersedes"] = dice.choice(["1", "2", "3"])
        status = dice.choice(["authoritative", "approved", None, None, "draft"])
        return found | ({"status": status} if status else {})

    def metric(self, entity: Entity, name: str, *, version: str = "1", dated: float = 0.0, changes: int = 3) -> None:
        """A metric that speaks of an entity, edited, gone and back, with an interval or without."""
        at, previous = START + self.dice.randint(0, 20) * DAY, None
        for _ in range(self.dice.randint(1, changes)):
            document = {"resource_type": "metric", "name": name, "type": "simple", "description": self.text()}
            known = [unique_id for other in self.entities for when, unique_id, said in other.states if said is not None and when <= at and unique_id.startswith("m")]
            document |= {"depends_on": sorted(set(self.dice.choices(known, k=2)))} if known and self.dice.random() < 0.7 else {}
            document["meta"] = {f"provenance_{key}": value for key, value in self.governance(entity.entity_id, version, dated=dated).items()}
            if previous is None or text_of(previous) != text_of(document):
                entity.add(at, f"metric.shop.{name}", document)
                previous = document
            at = self.later(at)
            if self.dice.random() < 0.2:
                entity.add(at, f"metric.shop.{name}", None)
                at, previous = self.later(at), None

    def page(self, entity: Entity, name: str) -> None:
        at = START + self.dice.randint(0, 20) * DAY
        for _ in range(self.dice.randint(1, 3)):
            front = {"entity": entity.entity_id, "status": self.dice.choice(["approved", "approved", "draft", "authoritative"])}
            front |= {"valid_from": self.date()} if self.dice.random() < 0.4 else {}
            entity.add(at, f"page.shop.docs/{name}.md", {"resource_type": "page", "name": name, "body": self.text(), "front_matter": front})
            at = self.later(at)
            if self.dice.random() < 0.25:
                entity.add(at, f"page.shop.docs/{name}.md", None)
                at = self.later(at)

    def versions(self, entity: Entity, name: str) -> None:
        """Builds of a model with versions: latest_version goes up, versions come and go, deprecation dates are set."""
        dice, at, latest, present, deprecated = self.dice, START, 1, [1], {}
        present = list(range(1, dice.randint(1, 3) + 1))
        latest = dice.choice(present)
        before: dict[int, Document] = {}
        if dice.random() < 0.2:
            entity.add(at, f"model.shop.{name}", {"resource_type": "model", "name": name, "description": f"{name} without versions"})
            at = self.later(at)
            entity.add(at, f"model.shop.{name}", None)
        for _ in range(dice.randint(1, 4)):
            for number in present:
                document = {"resource_type": "model", "name": name, "version": str(number), "latest_version": str(latest), "description": f"{name} version {number}"}
                document |= {"deprecation_date": deprecated[number]} if number in deprecated else {}
                if before.get(number) != document:
                    entity.add(at, f"model.shop.{name}.v{number}", document)
                    before[number] = document
            for number in set(before) - set(present):
                entity.add(at, f"model.shop.{name}.v{number}", None)
                del before[number]
            at = self.later(at)
            if dice.random() < 0.5 and max(present) < 5:
                present.append(max(present) + 1)
            if dice.random() < 0.6:
                latest = dice.choice([number for number in present if number >= latest])
            if dice.random() < 0.3 and any(number < latest for number in present):
                present.remove(dice.choice([number for number in present if number < latest]))
            if dice.random() < 0.4:
                deprecated[dice.choice(present)] = (dt.date(2025, 1, 1) + dice.randint(-100, 100) * DAY).isoformat()
        if dice.random() < 0.15:
            for number in before:
                entity.add(at, f"model.shop.{name}.v{number}", None)
            entity.add(at, f"model.shop.{name}", {"resource_type": "model", "name": name, "description": f"{name} no longer with versions"})


def random_histories(seed: int) -> list[Entity]:
    draw = Draw(random.Random(seed))
    for place in range(48):
        kind = ("observed", "declared", "declared", "mixed", "paged", "versioned", "versioned", "versioned")[place % 8]
        name = f"e{place}"
        entity = Entity(f"model.shop.{name}" if kind == "versioned" else f"metric.shop.{name}")
        if kind == "observed":
            draw.metric(entity, name, changes=6)
        elif kind == "versioned":
            draw.versions(entity, name)
        else:
            for version in ("1", "2", "3")[: draw.dice.randint(1, 3)]:
                draw.metric(entity, f"{name}_v{version}", version=version, dated=1.0 if kind == "declared" else 0.6)
            if kind == "paged":
                draw.page(entity, f"{name}_page")
        draw.entities.append(entity)
    return draw.entities


# in a warehouse


def write(warehouse: Warehouse, entities: Iterable[Entity], until: dt.datetime = dt.datetime.max) -> Warehouse:
    for at, unique_id, document in sorted((state for entity in entities for state in entity.states), key=lambda state: state[0]):
        if at <= until:
            path = f"docs/{unique_id}" if unique_id.startswith("page") else None
            warehouse.state(unique_id, document, at=at, path=path)
    return warehouse.build()


def boundaries(entity: Entity) -> list[dt.date]:
    """The days on which something may change, with the day before and the day after."""
    days = {at.date() for at, _, _ in entity.states}
    for _, _, document in entity.states:
        if document is not None:
            texts = [meta(document, "valid_from"), meta(document, "valid_to"), document.get("deprecation_date")]
            days |= {dt.date.fromisoformat(str(text)[:10]) for text in texts if text}
    return sorted({min(day, dt.date(9998, 1, 1)) + step * DAY for day in days for step in (-1, 0, 1)} | {dt.date(1990, 1, 1), dt.date(2500, 1, 1)})


def ask_all(warehouse: Warehouse, function: str, subjects: list[str], known_at: dt.datetime | None, more: str = "") -> dict[str, list[dict[str, Any]]]:
    """A function asked for many subjects in one statement: rows by subject."""
    cursor = warehouse.con.execute(
        f"""select wanted.one_subject, found.* from (select unnest(cast($1 as varchar[])) as one_subject) as wanted,
        lateral (select * from provenance.{function}(wanted.one_subject, known_at => $2, principal => 'analyst'{more})) as found""",
        [subjects, known_at and str(known_at)],
    )
    columns = [column[0] for column in cursor.description][1:]
    rows: dict[str, list[dict[str, Any]]] = {subject: [] for subject in subjects}
    for row in cursor.fetchall():
        rows[row[0]].append(dict(zip(columns, row[1:])))
    return {subject: sorted(found, key=repr) for subject, found in rows.items()}


def resolve_all(warehouse: Warehouse, asked: list[tuple[str, dt.date | None, dt.datetime | None]]) -> list[dict[str, Any]]:
    """resolve for many questions in one statement, in their order."""
    cursor = warehouse.con.execute(
        """select wanted.place, found.* from (
            select unnest(range(len($1))) as place, unnest(cast($1 as varchar[])) as one_entity, unnest(cast($2 as varchar[])) as one_day, unnest(cast($3 as varchar[])) as one_moment
        ) as wanted, lateral (select * from provenance.resolve(wanted.one_entity, as_of => wanted.one_day, known_at => wanted.one_moment, principal => 'analyst')) as found
        order by wanted.place""",
        [[one[0] for one in asked], [one[1] and str(one[1]) for one in asked], [one[2] and str(one[2]) for one in asked]],
    )
    columns = [column[0] for column in cursor.description][1:]
    return [dict(zip(columns, row[1:])) for row in cursor.fetchall()]


SEEDS = range(1, 1 + int(os.environ.get("PROVENANCE_TEST_SEEDS", 2)))
MOMENTS = (dt.datetime(2025, 1, 12, 12), dt.datetime(2025, 2, 1, 23, 45), dt.datetime(2026, 1, 1))


def open_warehouse(package_models) -> Warehouse:
    warehouse = Warehouse(package_models)
    return warehouse.policy("rules_principals", ("analyst", None, "analyst", None)).policy("rules_policies", ("all", None, "project", "*", "allow", "analyst"))


@pytest.fixture(scope="module", params=SEEDS)
def histories(package_models, request) -> Iterable[tuple[list[Entity], Warehouse]]:
    entities = random_histories(request.param)
    warehouse = write(open_warehouse(package_models), entities)
    yield entities, warehouse
    warehouse.con.close()


def test_resolve_decides_on_every_day_as_the_oracle_does(histories):
    entities, warehouse = histories
    asked = [(entity, day, moment) for entity in entities for moment in MOMENTS for day in boundaries(entity)]
    answers = resolve_all(warehouse, [(entity.entity_id, day, moment) for entity, day, moment in asked])
    for (entity, day, moment), answer in zip(asked, answers, strict=True):
        found = (answer["outcome"], answer["reason"], answer["definition_text"])
        assert found == decided(entity, day, moment), (entity.entity_id, str(day), str(moment))


def test_as_known_on_a_day_is_what_a_warehouse_of_that_day_says(histories, package_models):
    entities, warehouse = histories
    moment = MOMENTS[len(entities[0].states) % 2]
    earlier = write(open_warehouse(package_models), entities, until=moment)
    names = [entity.entity_id for entity in entities]
    asked = [(entity.entity_id, day) for entity in entities for day in (None, *boundaries(entity)[::4])]
    assert resolve_all(warehouse, [(*one, moment) for one in asked]) == resolve_all(earlier, [(*one, None) for one in asked])
    for function, subjects, more in (
        ("resolve_candidates", names, ""),
        ("search", ["text", "text again version", "e2 e3 page", "model.shop.e5"], ", max_rows => 10000"),
        ("search", ["text", "version 2"], ", max_rows => 10000, as_of => '2025-01-10'"),
        ("trace_lineage", names, ", direction => 'both'"),
        ("impact", names, ""),
    ):
        assert ask_all(warehouse, function, subjects, moment, more) == ask_all(earlier, function, subjects, None, more), function
    earlier.con.close()



# named histories


def metric(name: str, text: str, **governance: Any) -> tuple[str, Document]:
    document = {"resource_type": "metric", "name": name, "type": "simple", "description": text}
    return f"metric.shop.{name}", document | {"meta": {f"provenance_{key}": value for key, value in governance.items()}}


def model(name: str, text: str, version: str, latest: str, deprecation: str | None = None) -> tuple[str, Document]:
    document = {"resource_type": "model", "name": name, "version": version, "latest_version": latest, "description": text}
    return f"model.shop.{name}.v{version}", document | ({"deprecation_date": deprecation} if deprecation else {})


def page(name: str, text: str, **front: Any) -> tuple[str, Document]:
    return f"page.shop.docs/{name}.md", {"resource_type": "page", "name": name, "body": text, "front_matter": front}


def gone(unique_id: str) -> tuple[str, None]:
    return unique_id, None


NOTHING, CONFLICT, UNGOVERNED = "not_found_or_not_authorized", "conflict", "clarify"
# name of the entity: what was recorded when, and what is answered for a date (and as known at an instant)
CASES: dict[str, tuple[list[tuple[str, tuple[str, Document | None]]], list[tuple[str, str | None, str]]]] = {
    "metric.shop.a1_half_open": (
        [("2025-01-02", metric("a1_1", "old", entity="a1_half_open", version="1", valid_from="2024-01-01", valid_to="2025-04-01")), ("2025-01-02", metric("a1_2", "new", entity="a1_half_open", version="2", valid_from="2025-04-01"))],
        [("2025-03-31", None, "old"), ("2025-04-01", None, "new"), ("2023-12-31", None, NOTHING), ("2024-01-01", None, "old")],
    ),
    "model.shop.a2_latest_moves": (
        [
            ("2025-01-02", model("a2_latest_moves", "one", "1", "1")), ("2025-01-02", model("a2_latest_moves", "two", "2", "1")), ("2025-01-02", model("a2_latest_moves", "three", "3", "1")),
            ("2025-03-05", model("a2_latest_moves", "one", "1", "2")), ("2025-03-05", model("a2_latest_moves", "two", "2", "2")), ("2025-03-05", model("a2_latest_moves", "three", "3", "2")),
        ],
        [("2025-03-04", None, "one"), ("2025-03-05", None, "two"), ("2030-01-01", None, "two"), ("2025-06-01", "2025-02-01", "one")],
    ),
    "model.shop.a3_deprecated": (
        [("2025-01-02", model("a3_deprecated", "one", "1", "2", "1999-01-01")), ("2025-01-02", model("a3_deprecated", "two", "2", "2"))],
        [("1998-12-31", None, "one"), ("1999-01-01", None, "two"), ("2025-06-01", None, "two")],
    ),
    "model.shop.version_replaced_in_one_commit": (
        [("2025-01-02", model("version_replaced_in_one_commit", "one", "1", "1")), ("2025-02-03", model("version_replaced_in_one_commit", "two", "2", "2")), ("2025-02-03", gone("model.shop.version_replaced_in_one_commit.v1"))],
        [("2025-02-02", None, "one"), ("2025-02-03", None, "two")],
    ),
    "model.shop.first_versions": (
        [("2025-01-02", ("model.shop.first_versions", {"resource_type": "model", "name": "first_versions", "description": "none"})), ("2025-02-03", gone("model.shop.first_versions")), ("2025-02-03", model("first_versions", "one", "1", "1"))],
        [("2025-02-02", None, "none"), ("2025-02-03", None, "one")],
    ),
    "model.shop.no_more_versions": (
        [("2025-01-02", model("no_more_versions", "one", "1", "1")), ("2025-02-03", gone("model.shop.no_more_versions.v1")), ("2025-02-03", ("model.shop.no_more_versions", {"resource_type": "model", "name": "no_more_versions", "description": "none"}))],
        [("2025-02-02", None, "one"), ("2025-02-03", None, "none")],
    ),
    "model.shop.late_date_of_deprecation": (
        # below latest_version when first seen, and deprecated on a day after that: it had been handed over when first seen
        [("2025-01-02", model("late_date_of_deprecation", "one", "1", "2", "2025-06-01")), ("2025-01-02", model("late_date_of_deprecation", "two", "2", "2"))],
        [("2025-01-01", None, "one"), ("2025-01-02", None, "two"), ("2025-06-01", None, "two")],
    ),
    "metric.shop.a4_overlap_to_the_second": (
        [("2025-01-02", metric("a4_1", "old", entity="a4_overlap_to_the_second", version="1", valid_from="2025-01-01", valid_to="2025-02-01T00:00:03")), ("2025-01-02", metric("a4_2", "new", entity="a4_overlap_to_the_second", version="2", valid_from="2025-02-01T00:00:00"))],
        [("2025-01-31", None, "old"), ("2025-02-01", None, CONFLICT), ("2025-02-02", None, "new")],
    ),
    "metric.shop.a4_two_open_ends": (
        [("2025-01-02", metric("a4_3", "old", entity="a4_two_open_ends", version="1", valid_from="2025-01-01", valid_to="9999-12-31")), ("2025-01-02", metric("a4_4", "new", entity="a4_two_open_ends", version="2", valid_from="2025-01-01", valid_to=None))],
        [("2500-01-01", None, CONFLICT), ("2024-12-31", None, NOTHING)],
    ),
    "metric.shop.a5_scheduled": (
        [("2025-01-02", metric("a5_1", "old", entity="a5_scheduled", version="1", valid_from="2024-01-01")), ("2025-05-10", metric("a5_2", "new", entity="a5_scheduled", version="2", valid_from="2025-07-01", supersedes="1"))],
        [("2025-06-15", None, "old"), ("2025-07-01", None, "new"), ("2025-07-01", "2025-05-09", "old")],
    ),
    "metric.shop.b2_edited_and_made_anew": (
        [("2025-01-02", metric("b2_edited_and_made_anew", "alpha")), ("2025-02-03", metric("b2_edited_and_made_anew", "beta")), ("2025-03-04", gone("metric.shop.b2_edited_and_made_anew")), ("2025-04-05", metric("b2_edited_and_made_anew", "gamma"))],
        [("2020-01-01", None, "alpha"), ("2025-02-02", None, "alpha"), ("2025-02-03", None, "beta"), ("2025-03-03", None, "beta"), ("2025-03-04", None, NOTHING), ("2025-04-04", None, NOTHING), ("2025-04-05", None, "gamma"), ("2025-04-05", "2025-02-10", "beta")],
    ),
    "metric.shop.b3_retired": (
        [("2025-01-02", metric(f"b3_{status}", status, entity="b3_retired", version=status, status=status, valid_from=start, valid_to=end)) for status, start, end in (("archived", "2022-01-01", "2023-01-01"), ("deprecated", "2023-01-01", "2025-01-01"), ("approved", "2025-01-01", None))],
        [("2022-06-01", None, "archived"), ("2024-06-01", None, "deprecated"), ("2025-06-01", None, "approved")],
    ),
    "metric.shop.several_edits_a_day": (
        [("2025-01-02T08:00", metric("several_edits_a_day", "first")), ("2025-01-02T09:00", metric("several_edits_a_day", "second")), ("2025-02-03T00:00", metric("several_edits_a_day", "third")), ("2025-02-03T23:59", metric("several_edits_a_day", "fourth"))],
        [("2025-01-01", None, "second"), ("2025-01-02", "2025-01-02T08:30", "first"), ("2025-02-02", None, "second"), ("2025-02-03", None, "fourth"), ("2025-02-03", "2025-02-03T12:00", "third")],
    ),
    "metric.shop.corrected_interval": (
        [("2025-01-02", metric("corrected_interval", "text", valid_from="2025-01-01")), ("2025-02-03", metric("corrected_interval", "text", valid_from="2024-01-01"))],
        [("2024-06-01", None, "text"), ("2024-06-01", "2025-02-01", NOTHING)],
    ),
    "metric.shop.draft_supersedes": (
        [("2025-01-02", metric("ds_1", "old", entity="draft_supersedes", version="1", valid_from="2024-01-01")), ("2025-01-02", metric("ds_2", "new", entity="draft_supersedes", version="2", valid_from="2025-01-01", supersedes="1", status="draft"))],
        [("2025-06-01", None, "old")],
    ),
    "metric.shop.hidden_supersedes": (
        [("2025-01-02", metric("hs_1", "old", entity="hidden_supersedes", version="1", valid_from="2024-01-01")), ("2025-01-02", metric("hs_2", "new", entity="hidden_supersedes", version="2", valid_from="2025-01-01", supersedes="1", allow=["finance"]))],
        [("2025-06-01", None, "old")],
    ),
    "metric.shop.supersedes_itself": (
        [("2025-01-02", metric("si_1", "old", entity="supersedes_itself", version="1", valid_from="2024-01-01", supersedes="1")), ("2025-01-02", metric("si_2", "new", entity="supersedes_itself", version="2", valid_from="2025-01-01", supersedes="1"))],
        [("2024-06-01", None, "old"), ("2025-06-01", None, "new")],
    ),
    "metric.shop.no_longer_supersedes": (
        [("2025-01-02", metric("nl_1", "old", entity="no_longer_supersedes", version="1", valid_from="2024-01-01")), ("2025-01-02", metric("nl_2", "draft of new", entity="no_longer_supersedes", version="2", supersedes="1", status="approved")), ("2025-02-03", metric("nl_2", "new", entity="no_longer_supersedes", version="2", status="draft"))],
        [("2025-06-01", None, "old")],
    ),
    "metric.shop.inverted": ([("2025-01-02", metric("inverted", "text", valid_from="2025-01-01", valid_to="2024-01-01"))], [("2024-06-01", None, NOTHING), ("2025-06-01", None, NOTHING)]),
    "metric.shop.empty": ([("2025-01-02", metric("empty", "text", valid_from="2025-01-01", valid_to="2025-01-01"))], [("2025-01-01", None, NOTHING)]),
    "metric.shop.unreadable_date": ([("2025-01-02", metric("unreadable_date", "text", valid_from="spring"))], [("2025-01-01", None, UNGOVERNED)]),
    "doc.shop.withdrawn_page": (
        [("2025-01-02", page("withdrawn_page", "first", status="approved")), ("2025-02-03", page("withdrawn_page", "second", status="approved")), ("2025-03-04", gone("page.shop.docs/withdrawn_page.md"))],
        [("2025-01-15", None, NOTHING), ("2025-02-15", None, NOTHING), ("2025-01-15", "2025-03-01", "first"), ("2025-02-15", "2025-03-01", "second")],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def named(package_models) -> Iterable[tuple[Warehouse, dict[tuple[str, str, str | None], dict[str, Any]]]]:
    """The named histories in one warehouse, and the answers to their questions."""
    warehouse = open_warehouse(package_models)
    for at, (unique_id, document) in sorted((state for states, _ in CASES.values() for state in states), key=lambda state: state[0]):
        warehouse.state(unique_id, document, at=at, path=f"docs/{unique_id}" if unique_id.startswith("page") else None)
    warehouse.build()
    asked = [(entity, day, known) for entity, (_, questions) in CASES.items() for day, known, _ in questions]
    yield warehouse, dict(zip(asked, resolve_all(warehouse, asked), strict=True))
    warehouse.con.close()


@pytest.mark.parametrize("entity", CASES)
def test_what_holds_on_a_date_of(named, entity):
    for day, known, expected in CASES[entity][1]:
        answer = named[1][entity, day, known]
        assert (answer["definition_text"] or answer["outcome"]) == expected, (day, known)


def test_a_scheduled_successor_is_announced(named):
    answer = named[1]["metric.shop.a5_scheduled", "2025-06-15", None]
    assert (str(answer["scheduled_from"]), answer["superseded_by"]) == ("2025-07-01", "default/shop/metric.shop.a5_2/2/definition")
    assert named[1]["metric.shop.hidden_supersedes", "2025-06-01", None]["superseded_by"] is None
    assert named[1]["metric.shop.hidden_supersedes", "2025-06-01", None]["valid_to"] is None


def test_archived_and_deprecated_statements_are_labelled(named):
    assert [named[1]["metric.shop.b3_retired", day, None]["status"] for day, _, _ in CASES["metric.shop.b3_retired"][1]] == ["archived", "deprecated", "approved"]


def test_overlaps_and_two_open_ends_are_findings(named):
    rules = {(row["finding_rule"], row["entity_id"]) for row in named[0].view("findings", principal="analyst")}
    assert {("overlapping validity", "metric.shop.a4_overlap_to_the_second"), ("two open rows", "metric.shop.a4_two_open_ends"), ("inverted interval", "metric.shop.inverted")} <= rules
    assert not any(entity == "metric.shop.hidden_supersedes" and rule == "overlapping validity" for rule, entity in rules)


def test_a_word_of_an_earlier_text_is_an_answer_only_for_its_own_period(named):
    """B2: alpha was replaced by beta on 2025-02-03."""
    warehouse = named[0]
    lanes = {day: [row["lane"] for row in warehouse.call("search", "alpha", as_of=day, principal="analyst")] for day in ("2025-01-15", "2025-06-01")}
    assert lanes == {"2025-01-15": ["answer"], "2025-06-01": ["conflict"]}


def test_an_edit_of_a_column_alone_is_a_new_revision(package_models):
    warehouse = open_warehouse(package_models)
    for at, text in (("2025-01-02", "first"), ("2025-02-03", "second")):
        warehouse.state("model.shop.orders", {"name": "orders", "description": "Orders.", "columns": {"amount": {"description": text}}}, at=at)
    warehouse.build()
    assert [row["revision"] for row in warehouse.view("evidence", principal="analyst")] == [1, 2]
    warehouse.con.close()


@pytest.mark.parametrize("asked", [{"known_at": "2025-01-15"}, {"as_of": "2025-01-15"}])
def test_a_formula_is_that_of_the_measure_at_the_time(package_models, asked):
    warehouse = open_warehouse(package_models)
    warehouse.state("metric.shop.total", {"name": "total", "description": "Total.", "type": "simple", "type_params": {"measure": {"name": "amount"}}}, at="2025-01-02")
    for at, expression in (("2025-01-02", "gross"), ("2025-02-03", "gross - refunds")):
        warehouse.state("semantic_model.shop.orders", {"name": "orders", "measures": [{"name": "amount", "agg": "sum", "expr": expression}]}, at=at)
    warehouse.build()
    assert warehouse.call("resolve", "total", principal="analyst", **asked)[0]["formula"] == "SUM(gross)"
    warehouse.con.close()


def test_a_synonym_that_was_taken_away_stops_to_match_as_of_today(warehouse):
    """C5: the metric said it until 2025-02-03."""
    for at, meta in (("2025-01-02", {"synonyms": ["provider id"]}), ("2025-02-03", {})):
        warehouse.metric("npi", "National provider identifier.", at=at, **meta)
    warehouse.build()
    for day, outcome in (("2025-01-15", "resolved"), ("2025-03-01", "not_found_or_not_authorized"), (None, "not_found_or_not_authorized")):
        assert warehouse.call("resolve", "provider id", as_of=day, principal="analyst")[0]["outcome"] == outcome, day
        found = warehouse.con.execute("select entity_id from provenance_internal.find_entities('what is provider id', as_of => ?, principal => 'analyst')", [day]).fetchall()
        assert found == [("metric.shop.npi" if outcome == "resolved" else None,)], day


@pytest.mark.parametrize(("own", "label"), [("1", "v1"), ("1", "version 1"), ("1", "V1"), ("1", "1"), ("v1", "1"), ("Version 1", "v1")])
def test_what_supersedes_v1_closes_version_1(warehouse, own, label):
    warehouse.metric("total_1", "Once.", entity="total", version=own, status="approved", valid_from="2024-01-01")
    warehouse.metric("total_2", "Now.", entity="total", version="2", status="approved", valid_from="2025-01-01", supersedes=label)
    warehouse.build()
    assert warehouse.call("resolve", "total", as_of="2025-06-01", principal="analyst")[0]["version"] == "2"
    assert [row["valid_to"] for row in warehouse.call("resolve", "total", version="1", principal="analyst")] == [dt.date(2025, 1, 1)]


def test_of_several_formulas_of_one_day_the_last_holds(package_models):
    warehouse = open_warehouse(package_models)
    warehouse.state("metric.shop.total", {"name": "total", "description": "Total.", "type": "simple", "type_params": {"measure": {"name": "amount"}}}, at="2025-01-02")
    for at, expression in (("2025-01-02", "gross"), ("2025-02-03T09:00", "typo"), ("2025-02-03T15:00", "net")):
        warehouse.state("semantic_model.shop.orders", {"name": "orders", "measures": [{"name": "amount", "agg": "sum", "expr": expression}]}, at=at)
    warehouse.build()
    shown = sorted((row["formula"], row["valid_from"], row["valid_to"]) for row in warehouse.view("definitions", principal="analyst") if row["entity_id"] == "metric.shop.total")
    assert shown == [("SUM(gross)", None, dt.date(2025, 2, 3)), ("SUM(net)", dt.date(2025, 2, 3), None)]
    assert warehouse.call("resolve", "total", as_of="2025-02-03", principal="analyst")[0]["formula"] == "SUM(net)"
    assert warehouse.call("resolve", "total", known_at="2025-02-03T12:00", principal="analyst", as_of="2025-02-03")[0]["formula"] == "SUM(typo)"
    warehouse.con.close()
