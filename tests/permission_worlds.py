"""Random worlds, a world in a warehouse, and everything that an asker is shown of it: what the tests of permission share."""

import datetime as dt
import random
import zlib
from collections.abc import Iterable
from typing import Any

from package_sql import INTERNAL, Warehouse
from permission_model import Oracle, Resource, State, World

START = dt.datetime(2025, 1, 1, 12)
DAY = [START + dt.timedelta(days=10 * place) for place in range(12)]
GAP = None
GROUPS = ("a", "b", "c", "everyone")
TENANTS = (None, "default", "east")
RATIOS = {"zebra_r0": ("zebra_k0", "zebra_k1"), "zebra_r1": ("zebra_k2", "zebra_k3"), "zebra_r2": ("zebra_r0", "zebra_k2")}
MISSPELT = (("deny_", ["a"]), ("Deny", ["a"]), ("DENY", ["a"]), ("alow", "b"), ("tennant", "east"), ("denny", 5))


# random worlds


def random_policy(dice: random.Random, *, allow: float = 0.75) -> dict[str, Any]:
    """The keys of one layer, without prefix: mostly sound, now and then empty, malformed or misspelt."""
    keys: dict[str, Any] = {}
    if dice.random() < allow:
        keys["allow"] = dice.choice([list(dice.sample(GROUPS, dice.randint(1, 3))), dice.choice(GROUPS), ["a", "unknown"]])
    if dice.random() < 0.15:
        keys["deny"] = dice.choice([[dice.choice(GROUPS)], dice.choice(GROUPS), ["unknown"]])
    if dice.random() < 0.25:
        keys["tenant"] = dice.choice(["default", "east", "east"])
    if dice.random() < 0.06:
        keys["allow"] = dice.choice([[], None, 5, {"a": 1}, ["a", 5], [""]])
    if dice.random() < 0.04:
        key, value = dice.choice(MISSPELT)
        keys[key] = value
    return keys


def prefixed(keys: dict[str, Any]) -> dict[str, Any]:
    return {f"provenance_{key}": value for key, value in keys.items()}


class Draw:
    """Draws the resources of a world; each state's text holds a mark of its own, each name the word zebra."""

    def __init__(self, dice: random.Random):
        self.dice = dice
        self.marks = 0
        self.drawn: dict[str, list[Resource]] = {}

    def mark(self) -> str:
        self.marks += 1
        return f"mark{self.marks}"

    def document(self, project: str, unique_id: str, resource_type: str, policy: dict[str, Any]) -> dict[str, Any]:
        dice, name = self.dice, unique_id.split(".")[2]
        document: dict[str, Any] = {"resource_type": resource_type, "name": name, "package_name": unique_id.split(".")[1], "description": self.mark()}
        if resource_type == "page":
            front = {"title": f"{name} page", "status": dice.choice(["approved", "draft"])} | policy
            document = {"resource_type": "page", "name": name, "front_matter": front, "body": self.mark(), "package_name": project}
        elif policy:
            document["meta"] = prefixed(policy)
            if dice.random() < 0.2:
                document["meta_top"] = prefixed(random_policy(dice))
        if resource_type in ("model", "source") and dice.random() < 0.3:
            document.setdefault("meta", {})["provenance_status"] = dice.choice(["deprecated", "archived", "draft"])
        if resource_type not in ("page", "group"):
            document["tags"] = sorted(dice.sample(["red", "blue", "green"], dice.randint(0, 2)))
            if dice.random() < 0.3:
                document["group"] = dice.choice(["team", "crew", "ghost"])
        upstream = [one.unique_id for one in self.drawn.get(project, []) if one.resource_type in ("model", "source", "metric", "seed") and ".pkg." not in one.unique_id]
        if ".pkg." not in unique_id and resource_type in ("model", "metric", "exposure", "semantic_model") and upstream and dice.random() < 0.8:
            document["depends_on"] = sorted(set(dice.choices(upstream, k=dice.randint(1, 3))))
        if resource_type == "source":
            document |= {"source_name": "raw", "name": unique_id.split(".", 3)[3]}
            expected = {"warn_after": {"count": 1 if name.endswith("1") else 100000, "period": "day"}}
            document |= {"freshness": expected} if dice.random() < 0.7 else {}
        if resource_type == "metric":
            inputs = RATIOS.get(name)
            document |= {"type": "ratio", "type_params": dict(zip(("numerator", "denominator"), ({"name": one} for one in inputs)))} if inputs else {
                "type": "simple", "type_params": {"metric_aggregation_params": {"agg": "sum", "expr": name}},
            }  # fmt: skip
            document.setdefault("meta", {})["provenance_synonyms"] = [f"{name} alias"]
        return document

    def resource(self, project: str, unique_id: str, resource_type: str, *, policy: float = 0.75, path: str | None = None) -> None:
        dice, at, states = self.dice, START, []
        keys = random_policy(dice, allow=policy)
        for change in range(dice.choice([1, 1, 1, 2, 3])):
            at += dt.timedelta(days=dice.randint(1, 20), minutes=dice.randint(0, 59))
            keys = random_policy(dice, allow=policy) if change and dice.random() < 0.5 else keys
            states.append(State(at, self.document(project, unique_id, resource_type, keys)))
            if dice.random() < 0.15:
                states.append(State(at + dt.timedelta(hours=30), None))
                at += dt.timedelta(hours=40)
        folder = dice.choice(["models/core", "models/secret", "models\\secret"])
        self.drawn.setdefault(project, []).append(Resource(project, unique_id, path or f"{folder}/{unique_id}.yml", tuple(states)))

    def piece(self, page: Resource, heading: str) -> None:
        states = []
        for state in page.states:
            text = None if state.document is None else {
                "resource_type": "page_piece", "page": page.unique_id, "heading": f"zebra {heading}", "heading_path": [heading], "text": self.mark(),
                "package_name": page.project, "line_from": 1, "line_to": 2,
            }  # fmt: skip
            states.append(State(state.at, text))
        self.drawn[page.project].append(Resource(page.project, f"{page.unique_id}#{heading}", page.path, tuple(states)))

    def test(self, project: str, name: str, of: list[Resource], attached: bool) -> None:
        document = {"resource_type": "test", "name": name, "package_name": project, "depends_on": [one.unique_id for one in of]}
        document |= {"attached_node": of[0].unique_id} if attached else {}
        if self.dice.random() < 0.3:
            document["meta"] = prefixed(random_policy(self.dice))
        self.drawn[project].append(Resource(project, f"test.{project}.{name}", "models/core/test.yml", (State(START + dt.timedelta(days=90), document),)))


def random_world(seed: int) -> World:
    """About sixty resources of all types in two projects and two tenants, with nested and cyclic groups and rules of every kind."""
    dice = random.Random(seed)
    draw = Draw(dice)
    for project in ("shop", "other"):
        for team in ("team", "crew"):
            draw.resource(project, f"group.{project}.{team}", "group", policy=0.3)
        for place in range(3):
            draw.resource(project, f"source.{project}.raw.zebra_s{place}", "source")
            draw.resource(project, f"seed.{project}.zebra_seed{place}", "seed")
        for place in range(6):
            draw.resource(project, f"model.{project}.zebra_m{place}", "model")
        for name in ("zebra_k0", "zebra_k1", "zebra_k2", "zebra_k3", *RATIOS):
            draw.resource(project, f"metric.{project}.{name}", "metric")
        for kind in ("semantic_model", "exposure", "saved_query", "doc", "snapshot", "function"):
            draw.resource(project, f"{kind}.{project}.zebra_{kind}", kind)
        draw.resource(project, "model.pkg.zebra_common", "model")
        for place in range(3):
            draw.resource(project, f"page.{project}.docs/zebra_p{place}.md", "page", path=f"docs/zebra_p{place}.md")
            draw.piece(draw.drawn[project][-1], "one")
        models = [one for one in draw.drawn[project] if one.resource_type == "model"]
        for place in range(4):
            draw.test(project, f"zebra_t{place}", dice.sample(models, 2), attached=place % 2 == 0)
    resources = tuple(one for found in draw.drawn.values() for one in found)
    policies: list[tuple[str | None, ...]] = [("base", None, "project", "*", "allow", group) for group in ("a", "everyone")] if dice.random() < 0.5 else []
    for place, (applies_to, pattern) in enumerate(
        [("path", "models/secret/*"), ("tag", "red"), ("tag", "b*"), ("dbt_group", "crew"), ("resource_type", "metric"), ("resource_type", "page_piece"), ("project", "other")]
    ):
        tenant = dice.choice([None, None, None, "east"])
        for effect in dice.choices(["allow", "allow", "deny"], k=dice.randint(0, 2)):
            policies.append((f"rule{place}", tenant, applies_to, pattern, effect, dice.choice(GROUPS)))
    if dice.random() < 0.5:
        policies.append(("broken", None, "path", "models/core/*m1*", dice.choice(["allow", "alow", None]), dice.choice([None, "", "a"])))
    groups = [(tenant, dice.choice(GROUPS), dice.choice(GROUPS)) for tenant in TENANTS for _ in range(2)] + [("east", "x", "y"), ("east", "y", "x"), ("east", "y", "a")]
    principals = [
        ("ann", None, "a", None), ("ann", "default", "b", ""), ("bob", "", "c", None), ("cyd", "default", "everyone", None), ("cyd", "east", "everyone", None),
        ("cyd", "east", "b", None), ("eve", "east", "x", None), ("bot", "default", "c", "service"), ("bot", "default", "everyone", None), ("idle", None, None, None),
    ]  # fmt: skip
    results = tuple(("run1", one.project, one.unique_id, START + dt.timedelta(days=200)) for one in resources if one.resource_type not in ("page", "page_piece", "group"))
    return World(resources, tuple(principals), tuple(groups), tuple(policies), (), results)


# a world in a warehouse


def write(warehouse: Warehouse, world: World) -> Warehouse:
    """Fills an empty warehouse and builds it."""
    rows = sorted(((state.at, one, state) for one in world.resources for state in one.states), key=lambda row: (row[0], row[1].key))
    for at, one, state in rows:
        warehouse.state(one.unique_id, state.document, at=at, project=one.project, path=one.path)
    packages = [(one.unique_id, one.project, one.last.get("package_name", one.project)) for one in world.resources]
    warehouse.con.executemany(
        f"""update {INTERNAL}.prov_raw_resources set location = json_merge_patch(location, json_object('package_name', $3))
        where unique_id = $1 and project_name = $2""",
        packages,
    )
    for name in ("principals", "groups", "policies"):
        warehouse.policy(f"rules_{name}", *getattr(world, name))
    for result in world.results:
        record(warehouse, *result)
    strike(warehouse, *world.ledger)
    return warehouse.build()


def record(warehouse: Warehouse, invocation: str, project: str, unique_id: str, at: dt.datetime) -> None:
    """A result of a node, and of a source a measurement of its freshness: of many kinds, and always the same for the same node."""
    kind = zlib.crc32(f"{project}/{unique_id}".encode()) // 7 % 4
    status = ("pass", "fail", "warn", "skipped")[kind] if unique_id.startswith("test.") else "success"
    warehouse.con.execute(
        f"insert into {INTERNAL}.prov_raw_run_results (invocation_id, project_name, target_name, unique_id, run_status, recorded_at_utc) values (?, ?, 'dev', ?, ?, ?)",
        [invocation, project, unique_id, status, at],
    )
    if unique_id.startswith("source."):
        loaded = (at - dt.timedelta(hours=2), None, at + dt.timedelta(hours=9), at - dt.timedelta(days=900))[kind]
        warehouse.measured(unique_id, loaded, at, project=project, status=("pass", "error", "pass", "warn")[kind], invocation=invocation)


def strike(warehouse: Warehouse, *entries: Any) -> None:
    for entry in entries:
        columns = ", ".join(entry)
        warehouse.con.execute(f"insert into {INTERNAL}.prov_ledger ({columns}) values ({', '.join('?' for _ in entry)})", list(entry.values()))


# what an asker is shown

VIEWS = (
    "evidence", "definitions", "definition_changes", "change_impacts", "synonyms", "lineage_edges", "lineage_closure", "acl_grants", "principal_groups", "freshness", "runs",
    "run_results", "conflicts", "findings", "index_status", "health", "coverage",
)  # fmt: skip
FUNCTIONS = {
    "resolve": "", "resolve_candidates": "", "trace_lineage": "direction => 'both'", "impact": "", "search": "max_rows => 100000", "find_entities": "",
}  # fmt: skip
ABSENT = "metric.shop.zebra_absent"
UNTIMED = {"built_at_utc"}
Asking = tuple[str | None, str | None]
Shown = dict[str, Any]
ASKERS: tuple[Asking, ...] = (("ann", None), ("bob", None), ("cyd", "default"), ("cyd", "east"), ("eve", None), ("bot", None))
SERVICE: Asking = ("bot", None)


def ask_all(warehouse: Warehouse, function: str, askers: Iterable[Asking], subjects: Iterable[str], more: str = "") -> dict[Asking, dict[str, list[dict[str, Any]]]]:
    """A function asked by all of many askers for many subjects in one statement: rows by asker and subject."""
    schema = "provenance_internal" if function == "find_entities" else "provenance"
    askers, subjects = list(askers), list(subjects)
    cursor = warehouse.con.execute(
        f"""select wanted.one_principal, wanted.one_tenant, wanted_subjects.one_subject, found.*
        from (select unnest(cast($1 as varchar[])) as one_principal, unnest(cast($2 as varchar[])) as one_tenant) as wanted
        cross join (select unnest(cast($3 as varchar[])) as one_subject) as wanted_subjects,
        lateral (select * from {schema}.{function}(wanted_subjects.one_subject, principal => wanted.one_principal, tenant => wanted.one_tenant{more and ", " + more})) as found""",
        [[asker[0] for asker in askers], [asker[1] for asker in askers], subjects],
    )
    columns = [column[0] for column in cursor.description][3:]
    rows: dict[Asking, dict[str, list[dict[str, Any]]]] = {asker: {subject: [] for subject in subjects} for asker in askers}
    for principal, tenant, subject, *row in cursor.fetchall():
        rows[principal, tenant][subject].append(dict(zip(columns, row)))
    return {asker: {subject: ordered(found) for subject, found in asked.items()} for asker, asked in rows.items()}


def ordered(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(({key: value for key, value in row.items() if key not in UNTIMED} for row in rows), key=repr)


def surfaces(warehouse: Warehouse, world: World, askers: Iterable[Asking], known_at: str | None = None) -> dict[Asking, Shown]:
    """Everything that askers are shown of a world, by asker and surface; of functions by what was asked."""
    oracle, askers = Oracle(world), list(askers)
    entities = sorted({oracle.entity_id(one, kind) for one in world.resources for kind in kinds(one)} | {ABSENT})
    names = sorted({one.last["name"] for one in world.resources if "name" in one.last})
    subjects = dict.fromkeys(FUNCTIONS, entities) | {
        "search": ["zebra", "zebra one", *entities[::8], ABSENT],
        "find_entities": [" , ".join(names[place : place + 30]) for place in range(0, len(names), 30)],
    }
    known = f"known_at => '{known_at}'" if known_at else ""
    shown: dict[Asking, Shown] = {
        (principal, tenant): {view: ordered(warehouse.view(view, principal=principal, tenant=tenant, known_at=known_at)) for view in VIEWS}
        for principal, tenant in askers
    }
    for variable in ("principal", "tenant", "known_at"):
        warehouse.con.execute(f"set variable provenance_{variable} = null")
    for function, more in FUNCTIONS.items():
        for asker, answers in ask_all(warehouse, function, askers, subjects[function], ", ".join(filter(None, (more, known)))).items():
            shown[asker][function] = answers
    return shown


def kinds(resource: Resource) -> list[str]:
    """The evidence types whose entities are asked for."""
    if resource.resource_type in ("test", "unit_test", "group", "page_piece"):
        return []
    return ["definition"] + (["lineage"] if resource.resource_type == "model" else []) + (["freshness_policy"] if resource.resource_type == "source" else [])


def ids(rows: Iterable[dict[str, Any]], *columns: str) -> set[Any]:
    return {tuple(row[column] for column in columns) if len(columns) > 1 else row[columns[0]] for row in rows}
