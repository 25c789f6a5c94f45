"""Who may see what in a loaded file: read from a YAML file or from the command line, as the variables of the package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from ..errors import UsageError

_KEYS = {
    "principals": {"principal", "tenant", "group_name", "principal_role"},
    "groups": {"tenant", "group_name", "parent_group"},
    "policies": {"policy_name", "tenant", "applies_to", "pattern", "allow", "deny", "effect", "group_name"},
    "authority": {
        "rule_kind", "subject", "rule_rank", "highest_status", "may_govern", "speaks_for_others", "rule_comment",
    },
}  # fmt: skip
_REQUIRED = {
    "principals": {"principal"},
    "groups": {"group_name", "parent_group"},
    "policies": {"applies_to"},
    "authority": {"rule_kind", "subject"},
}

Policy = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows of the policy relations by their name: principals, groups, policies, authority."""


def read_policy(file: Path) -> Policy:
    """The policy in a YAML file. Raises UsageError for what cannot be read or would be passed over in silence."""
    try:
        parsed = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UsageError(f"The policy {file} cannot be read: {' '.join(str(error).split())}") from None
    if not isinstance(parsed, Mapping) or not parsed.keys() <= _KEYS.keys():
        raise UsageError(f"The policy {file} must have the keys {', '.join(_KEYS)} at its top, and no other.")
    return {name: [_checked(name, row, file) for row in _rows(name, rows, file)] for name, rows in parsed.items()}


def open_policy(groups: Sequence[str], principals: Sequence[str]) -> Policy:
    """Each of the principals in each of the groups, and everything open to the groups."""
    if not groups or not principals:
        raise UsageError("--allow GROUP and --principal P belong together: who is let in, and who is in that group.")
    members = [{"principal": principal, "group_name": group} for principal in principals for group in groups]
    rule = {"policy_name": "load --allow", "applies_to": "resource_type", "pattern": "*", "allow": list(groups)}
    return {"principals": members, "policies": [rule]}


def policy_variables(policy: Policy) -> dict[str, Any]:
    """The policy as dbt variables of the package. What it does not name is closed; the order of authority is the package's own."""
    named = {name: policy.get(name) or [] for name in ("principals", "groups", "policies")}
    named |= {"authority": policy["authority"]} if policy.get("authority") else {}
    return {f"provenance_{name}": rows for name, rows in named.items()}


def _rows(name: str, rows: Any, file: Path) -> list[Any]:
    if rows is None:
        return []
    if not isinstance(rows, list):
        raise UsageError(f"In the policy {file}, {name} must be a list.")
    return rows


def _checked(name: str, row: Any, file: Path) -> dict[str, Any]:
    if not isinstance(row, Mapping) or not row.keys() <= _KEYS[name] or not row.keys() >= _REQUIRED[name]:
        needed, possible = ", ".join(sorted(_REQUIRED[name])), ", ".join(sorted(_KEYS[name]))
        raise UsageError(f"In the policy {file}, {row!r} of {name} is no rule: it needs {needed}; possible are {possible}.")
    return {key: value if isinstance(value, (list, bool, type(None))) else str(value) for key, value in row.items()}
