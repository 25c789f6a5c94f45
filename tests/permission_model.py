"""Who may see what, in plain Python and from the rules alone: the oracle of the permission tests.

A World is what the package would find: captured states of resources, policy relations, the ledger. An Oracle answers for it, slowly and
one resource at a time. Nothing of the package's SQL is repeated here, and nothing is taken from it.

    layer         what one place says: who is allowed, who is denied, which tenant; unreadable closes
    state         passes when some layer allows, the asker meets every layer that has an allow, and meets no deny
    resource      passes by its last state; what lies before a gap must pass the last state before that gap as well
    part          passes when it and its parent do: a column, a piece of a page, a test
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

DEFAULT_TENANT = "default"
KNOWN_KEYS = (
    "allow", "deny", "tenant", "status", "entity", "version", "valid_from", "valid_to", "supersedes", "about", "grain", "unit",
    "synonyms", "owner", "classification", "title", "source_uri",
)  # fmt: skip
EVIDENCE_TYPES = ("metric", "model", "seed", "snapshot", "source", "semantic_model", "exposure", "saved_query", "function", "doc", "page")
BUILT_TYPES = ("model", "seed", "snapshot", "function", "metric", "semantic_model", "saved_query", "exposure")


@dataclass(frozen=True)
class State:
    """A resource as captured at an instant (UTC); without a document it was gone."""

    at: dt.datetime
    document: Mapping[str, Any] | None


@dataclass(frozen=True)
class Resource:
    """One unique_id of one root project, with all its states, oldest first."""

    project: str
    unique_id: str
    path: str
    states: tuple[State, ...]

    @property
    def key(self) -> tuple[str, str]:
        return self.project, self.unique_id

    @property
    def resource_type(self) -> str:
        return next(state.document["resource_type"] for state in self.states if state.document is not None)

    @property
    def segments(self) -> tuple[tuple[State, ...], ...]:
        """The opened states between gaps."""
        found: list[list[State]] = [[]]
        for state in self.states:
            if state.document is None:
                found.append([])
            else:
                found[-1].append(state)
        return tuple(tuple(segment) for segment in found if segment)

    @property
    def last(self) -> Mapping[str, Any]:
        return self.segments[-1][-1].document

    @property
    def is_gone(self) -> bool:
        return self.states[-1].document is None

    def ends(self, segment: int) -> dt.datetime:
        """When a segment ended; the end of time while it stands."""
        last = self.segments[segment][-1]
        following = [state.at for state in self.states[self.states.index(last) + 1 :]]
        return min(following, default=dt.datetime.max)


@dataclass(frozen=True)
class World:
    """All that decides, as rows. policies: (policy_name, tenant, applies_to, pattern, effect, group); principals: (principal, tenant,
    group, role); groups: (tenant, group, parent); ledger: mappings with ledger_action and the like; results: (invocation, project,
    unique_id, instant)."""

    resources: tuple[Resource, ...]
    principals: tuple[tuple[str | None, ...], ...] = ()
    groups: tuple[tuple[str | None, ...], ...] = ()
    policies: tuple[tuple[str | None, ...], ...] = ()
    ledger: tuple[Mapping[str, Any], ...] = ()
    results: tuple[tuple[str, str, str, dt.datetime], ...] = ()

    def without(self, hidden: Iterable[tuple[str, str]]) -> World:
        """The same world in which some resources never were. Groups of dbt stay: they are policy."""
        gone = set(hidden)
        return replace(
            self,
            resources=tuple(one for one in self.resources if one.key not in gone or one.resource_type == "group"),
            results=tuple(row for row in self.results if (row[1], row[2]) not in gone),
        )


@dataclass(frozen=True)
class Layer:
    """What one place says. None: it says nothing of the kind; an empty allow allows nobody."""

    allow: frozenset[str] | None = None
    deny: frozenset[str] | None = None
    tenant: str | None = None
    unreadable: bool = False


@dataclass(frozen=True)
class Asker:
    principal: str
    tenant: str
    groups: frozenset[str]


@dataclass
class Oracle:
    world: World
    _found: dict[tuple[str, str], Resource] = field(init=False)

    def __post_init__(self) -> None:
        self._found = {resource.key: resource for resource in self.world.resources}

    # who asks

    def asker(self, principal: str | None, tenant: str | None = None) -> Asker | None:
        """None: unknown, in several tenants and none given, or not in the one given. A sealed ledger knows nobody."""
        if any(entry["ledger_action"] == "seal" for entry in self.world.ledger):
            return None
        rows = [row for row in self.world.principals if row[0] and row[0] == principal]
        tenants = {row[1] or DEFAULT_TENANT for row in rows} & ({tenant} if tenant else {row[1] or DEFAULT_TENANT for row in rows})
        if len(tenants) != 1:
            return None
        (own,) = tenants
        groups = {row[2] for row in rows if (row[1] or DEFAULT_TENANT) == own and row[2]}
        while True:
            wider = groups | {parent for where, group, parent in self.world.groups if (where or DEFAULT_TENANT) == own and group in groups and parent}
            if wider == groups:
                return Asker(principal or "", own, frozenset(groups))
            groups = wider

    # what a place says

    def layers(self, resource: Resource, state: State, until: dt.datetime) -> list[Layer]:
        """All layers of a resource in a state that stood until an instant."""
        document = state.document or {}
        found = [*_declared(document, resource.resource_type), *self._rules(resource, document)]
        name = document.get("group")
        group = self._found.get((resource.project, f"group.{document.get('package_name', resource.project)}.{name}")) if name else None
        if group is not None:
            then = [one for segment in group.segments for one in segment if one.at < until]
            for one in {id(state): state for state in (group.segments[-1][-1], *then[-1:])}.values():
                found += _declared(one.document or {}, "group")
        return found

    def _rules(self, resource: Resource, document: Mapping[str, Any]) -> list[Layer]:
        subjects = {
            "path": [resource.path.replace("\\", "/")],
            "tag": list(document.get("tags", [])),
            "dbt_group": [document["group"]] if document.get("group") else [],
            "resource_type": [resource.resource_type],
            "project": [resource.project],
        }
        rules: dict[tuple[str | None, ...], list[tuple[str | None, str | None]]] = {}
        for name, tenant, applies_to, pattern, effect, group in self.world.policies:
            rules.setdefault((name, tenant or None, applies_to, pattern), []).append((effect, group))
        found = []
        for (_, tenant, applies_to, pattern), grants in rules.items():
            glob = "*" if pattern is None else pattern.replace("\\", "/") if applies_to == "path" else pattern
            expression = ".*".join(re.escape(part) for part in glob.split("*"))
            if applies_to in subjects and not any(re.fullmatch(expression, one, re.DOTALL) for one in subjects[applies_to]):
                continue
            allow = frozenset(group for effect, group in grants if effect == "allow" and group)
            deny = frozenset(group for effect, group in grants if effect == "deny" and group)
            unreadable = applies_to not in subjects or any(effect not in ("allow", "deny") or not group for effect, group in grants)
            found.append(Layer(allow or None, deny or None, tenant, unreadable))
        return found

    # what passes

    def _requirements(self, resource: Resource, segment: int) -> list[list[Layer]]:
        """The states that must all pass for what a segment holds to be seen, each with all its layers."""
        found = []
        for later in range(segment, len(resource.segments)):
            state, until = resource.segments[later][-1], resource.ends(later)
            own = self.layers(resource, state, until)
            if resource.resource_type != "page_piece":
                found.append(own)
                continue
            page = self._found.get((resource.project, (state.document or {}).get("page", "")))
            if page is None:
                return [[]]
            first = max((place for place, part in enumerate(page.segments) if part[0].at < until), default=0)
            found += [layers for required in self._requirements(page, first) for layers in (own + required, required)]
        return found

    def sees(self, asker: Asker | None, resource: Resource, segment: int = -1) -> bool:
        """Whether the policies let the asker see what a segment of a resource holds. The ledger is apart."""
        if asker is None or resource.unique_id.startswith(("operation.", "group.")):
            return False
        required = self._requirements(resource, segment % len(resource.segments))
        if not all(_passes(layers, asker) for layers in required) or len({_tenant(layers) for layers in required}) != 1:
            return False
        if _tenant(required[0]) != asker.tenant:
            return False
        return all(
            parent in self._found and self.sees(asker, self._found[parent]) and not self.is_struck(asker, self._found[parent])
            for parent in self._parents(resource)
        )

    def _parents(self, resource: Resource) -> list[tuple[str, str]]:
        if resource.resource_type not in ("test", "unit_test"):
            return []
        attached = resource.last.get("attached_node")
        return [(resource.project, one) for one in ([attached] if attached else resource.last.get("depends_on", []))]

    def sees_part(self, asker: Asker | None, resource: Resource, name: str, segment: int = -1) -> bool:
        """Whether a column is seen: its own layer and its resource's, in the last state that has the column."""
        place = segment % len(resource.segments)
        if not self.sees(asker, resource, place):
            return False
        for later in range(place, len(resource.segments)):
            having = [one for one in resource.segments[later] if name in (one.document or {}).get("columns", {})]
            if having:
                own = _declared((having[-1].document or {})["columns"][name], "column")
                layers = self.layers(resource, resource.segments[later][-1], resource.ends(later)) + own
                if not _passes(layers, asker) or _tenant(layers) != asker.tenant:
                    return False
        return True

    def is_struck(self, asker: Asker, resource: Resource, evidence_type: str = "definition", segment: int = -1) -> bool:
        """Whether the ledger has taken an evidence of a resource from the asker; a page takes its pieces along."""
        subjects = {("evidence_id", self.evidence_id(resource, evidence_type, segment)), ("entity_id", self.entity_id(resource, evidence_type))}
        if resource.resource_type == "page_piece":
            page = self._found[resource.project, resource.last["page"]]
            subjects |= {("evidence_id", self.evidence_id(page)), ("entity_id", self.entity_id(page))}
        elif evidence_type != "definition":
            subjects |= {("evidence_id", self.evidence_id(resource, segment=segment)), ("entity_id", self.entity_id(resource))}
        return any(
            entry["ledger_action"] in ("erase", "revoke")
            and any(entry.get(kind) == subject for kind, subject in subjects)
            and entry.get("tenant_id") in (None, asker.tenant)
            and (entry.get("group_name") is None or entry["group_name"] in asker.groups)
            for entry in self.world.ledger
        )

    # ids

    def tenant(self, resource: Resource, segment: int = -1) -> str:
        return _tenant(self._requirements(resource, segment % len(resource.segments))[0])

    def entity_id(self, resource: Resource, evidence_type: str = "definition") -> str:
        """The entity that a resource is evidence of, in worlds in which none names another one."""
        document = self._found[resource.project, resource.last["page"]].last if resource.resource_type == "page_piece" else resource.last
        if resource.resource_type in ("page", "page_piece"):
            return f"doc.{resource.project}.{document['name']}"
        if evidence_type in ("lineage", "freshness_policy"):
            own = f"{document['source_name']}.{document['name']}" if resource.resource_type == "source" else document["name"]
            return f"{evidence_type.removesuffix('_policy')}.{document.get('package_name', resource.project)}.{own}"
        version = document.get("version")
        return resource.unique_id.removesuffix(f".v{version}") if version else resource.unique_id

    def evidence_id(self, resource: Resource, evidence_type: str = "definition", segment: int = -1) -> str:
        document = resource.segments[segment][-1].document or {}
        evidence_type = "page_piece" if resource.resource_type == "page_piece" else evidence_type
        return "/".join((self.tenant(resource, segment), resource.project, resource.unique_id, document.get("version") or "", evidence_type))

    def evidence(self, asker: Asker | None) -> dict[str, list[Mapping[str, Any]]]:
        """Every evidence that the asker may see, with the documents of the states of it that it may see."""
        found: dict[str, list[Mapping[str, Any]]] = {}
        for resource in self.world.resources:
            for segment, states in enumerate(resource.segments):
                if not self.sees(asker, resource, segment):
                    continue
                for state in states:
                    for evidence_type in _evidence_types(resource.resource_type, state.document or {}):
                        if not self.is_struck(asker, resource, evidence_type, segment):
                            found.setdefault(self.evidence_id(resource, evidence_type, segment), []).append(state.document or {})
        return found

    def resources_seen(self, asker: Asker | None) -> set[tuple[str, str]]:
        """The resources of which the asker may see the last state."""
        return {one.key for one in self.world.resources if self.sees(asker, one) and not self.is_struck(asker, one)}

    def edges_seen(self, asker: Asker | None) -> set[tuple[str, str]]:
        """Pairs of upstream and downstream, both visible, of today's dependencies."""
        seen = self.resources_seen(asker)
        return {
            (upstream, one.unique_id)
            for one in self.world.resources
            if one.key in seen and one.resource_type in BUILT_TYPES and not one.is_gone
            for upstream in one.last.get("depends_on", [])
            if (one.project, upstream) in seen
        }


def _evidence_types(resource_type: str, document: Mapping[str, Any]) -> list[str]:
    if resource_type == "page_piece":
        return ["page_piece"]
    if resource_type not in EVIDENCE_TYPES:
        return []
    limits = document.get("freshness") or {}
    is_expected = any((limits.get(level) or {}).get("count") is not None for level in ("warn_after", "error_after"))
    return (
        ["definition"]
        + (["lineage"] if resource_type in ("model", "snapshot") and document.get("depends_on") else [])
        + (["freshness_policy"] if resource_type == "source" and is_expected else [])
    )


def _declared(document: Mapping[str, Any], resource_type: str) -> list[Layer]:
    """One layer for each place of a document that says something of who may see it."""
    found = [_layer(document.get(place, {}), "provenance_") for place in ("meta", "meta_top")]
    if resource_type == "page":
        found.append(_layer(document.get("front_matter", {}), ""))
        found += [Layer(unreadable=True)] if document.get("front_matter_error") else []
    return [layer for layer in found if layer is not None]


def _layer(keys: Mapping[str, Any], prefix: str) -> Layer | None:
    own = {key[len(prefix) :]: value for key, value in keys.items() if key.startswith(prefix)}
    misspelt = any(_is_misspelt(key, value, prefix) for key, value in keys.items())
    unreadable = misspelt or any(not _is_groups(own[key]) for key in ("allow", "deny") if key in own) or not isinstance(own.get("tenant", ""), str)
    if not unreadable and not {"allow", "deny", "tenant"} & own.keys():
        return None
    groups = {key: frozenset([own[key]] if isinstance(own[key], str) else own[key]) for key in ("allow", "deny") if key in own and not unreadable}
    return Layer(groups.get("allow"), groups.get("deny"), own.get("tenant") if not unreadable else None, unreadable)


def _is_groups(value: Any) -> bool:
    """A name, or a list of names that may be empty."""
    return (isinstance(value, str) and value != "") or (isinstance(value, list) and all(isinstance(one, str) and one for one in value))


def _is_misspelt(key: str, value: Any, prefix: str) -> bool:
    """A key that was meant to be allow, deny or tenant: another case, separator or place, or a letter or two away."""
    if key.startswith(prefix) and key[len(prefix) :] in KNOWN_KEYS:
        return False
    meant = re.sub("^provenance[^a-z0-9]*", "", key.lower())
    if prefix and meant == key.lower():
        return False
    return (meant == "" and isinstance(value, dict)) or min(_distance(meant, word) for word in ("allow", "deny", "tenant")) <= (2 if prefix else 1)


def _distance(one: str, other: str) -> int:
    """Edits of one letter between two words (Levenshtein, 1966)."""
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, 1):
        above, row[0] = row[0], place
        for column, found in enumerate(other, 1):
            above, row[column] = row[column], min(row[column] + 1, row[column - 1] + 1, above + (letter != found))
    return row[-1]


def _passes(layers: Iterable[Layer], asker: Asker) -> bool:
    layers = list(layers)
    return (
        not any(layer.unreadable for layer in layers)
        and any(layer.allow is not None for layer in layers)
        and all(layer.allow & asker.groups for layer in layers if layer.allow is not None)
        and not any(layer.deny & asker.groups for layer in layers if layer.deny is not None)
        and len({layer.tenant for layer in layers if layer.tenant is not None}) <= 1
    )


def _tenant(layers: Iterable[Layer]) -> str:
    """The one tenant that the layers name, else the default one. Of several any: then nobody sees it."""
    return min({layer.tenant for layer in layers if layer.tenant is not None}, default=DEFAULT_TENANT)
