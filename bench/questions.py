"""Search, resolve and trace over many evidence rows, beside rank_bm25 and bm25s over the same filtered rows.

The package's own compiled SQL runs on generated evidence: Zipf text of 60 tokens, 100 groups, 500 policies of one to three allowed
groups (a tenth with a denied one), six years of declared validity. CPU is the process's own time per query, planning included.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from package_sql import INTERNAL, Warehouse, read_models  # noqa: E402

POLICIES, GROUPS, VOCABULARY = 500, 100, 50_000
DOWNSTREAM = ("prov_int_entity_evidence", "prov_int_formula_periods", "prov_int_columns", "prov_int_postings", "prov_int_guarded_postings", "prov_int_column_terms", "prov_int_phrases", "prov_int_documents", "prov_int_names")


def generated(project: Path, size: int, *, seed: int = 7) -> Warehouse:
    """A warehouse with `size` evidence rows, each an entity of its own in a chain of lineage, built by the package's SQL."""
    warehouse = Warehouse(read_models(project))
    warehouse.policy("rules_principals", ("analyst", None, "analyst", None))
    warehouse.metric("seed", "One row, so that every relation is made.")
    warehouse.build()
    con = warehouse.con
    con.execute(f"select setseed({seed / 100})")
    rng = random.Random(seed)
    con.execute(f"delete from {INTERNAL}.prov_int_policies; delete from {INTERNAL}.prov_int_memberships; delete from {INTERNAL}.prov_int_evidence; delete from {INTERNAL}.prov_int_edges")
    for number in range(POLICIES):
        groups = [f"g{one}" for one in rng.sample(range(GROUPS), rng.randint(1, 3))]
        denied = [f"g{rng.randrange(GROUPS)}"] if rng.random() < 0.1 else []
        con.execute(f"insert into {INTERNAL}.prov_int_policies values (?, 'default', ?, ?)", [number, [groups], denied])
    for name, groups in (("narrow", range(2)), ("wide", range(18))):
        for group in groups:
            con.execute(f"insert into {INTERNAL}.prov_int_memberships values (?, 'default', ?, false)", [name, f"g{group}"])
    con.execute(
        f"""insert into {INTERNAL}.prov_int_evidence by name
        select i * 4 as doc_id, i as raw_id, i as last_raw_id, 'default/shop/metric.shop.m' || i || '//definition' as evidence_id, 1 as revision,
            'definition' as evidence_type, 'metric.shop.m' || i as entity_id, 'metric' as entity_type, 'm' || i as entity_name,
            'metric.shop.m' || i as unique_id, 'metric' as resource_type, 'shop' as project_name, 'dev' as target_name, 'shop' as package_name,
            'default' as tenant_id, cast(hash(i) % {POLICIES} as bigint) as policy_id, 0 as segment, 'approved' as declared_status, 'approved' as status,
            1 as kind_rank, 'building_project' as source_kind, 2 as status_rank, true as may_govern, 'declared' as validity_basis,
            date '2020-01-01' + cast(i % 2190 as integer) as declared_from, null as declared_to, true as interval_is_sound, date '2024-01-01' as recorded_date,
            false as starts_when_recorded, timestamp '2024-01-01' as recorded_from_utc, 'm' || i as title,
            array_to_string(list_transform(range(60), lambda place: 'w' || cast(floor(pow({VOCABULARY}, random() + place * 0)) as integer)), ' ') as definition_text,
            'authored' as text_origin, cast([] as varchar[]) as named_ids, md5(cast(i as varchar)) as fingerprint, md5(cast(i as varchar)) as text_fingerprint, md5(cast(i as varchar)) as content_hash,
            cast([] as bigint[]) as named_policy_ids, cast([] as varchar[]) as named_keys, ['default/shop/metric.shop.m' || i || '//definition', 'metric.shop.m' || i] as ledger_keys
        from range(1, {size + 1}) as numbers (i)"""
    )
    con.execute(
        f"""insert into {INTERNAL}.prov_int_edges by name
        select 'shop' as project_name, 'metric.shop.m' || (i // 3) as upstream_id, 'metric.shop.m' || (i // 3) as upstream_entity_id, 'metric' as upstream_type,
            cast(hash(i // 3) % {POLICIES} as bigint) as upstream_policy_id, 'metric.shop.m' || i as downstream_id, 'metric.shop.m' || i as downstream_entity_id,
            'metric' as downstream_type, cast(hash(i) % {POLICIES} as bigint) as downstream_policy_id, 'semantic' as edge_kind, 'depends on' as edge_role,
            timestamp '2024-01-01' as recorded_from_utc
        from range(3, {size + 1}) as numbers (i)"""
    )
    for model in warehouse.models:
        if model.name in DOWNSTREAM:
            con.execute(model.statement())
    return warehouse


def visible(warehouse: Warehouse, principal: str) -> list[tuple[int, str]]:
    """doc_id and text of the rows that a principal may see, as SQL filters them."""
    return warehouse.con.execute(
        f"""with askers as (select list(group_name) as groups from {INTERNAL}.prov_int_memberships where principal_id = ?)
        select evidence.doc_id, evidence.definition_text from {INTERNAL}.prov_int_evidence as evidence
        inner join {INTERNAL}.prov_int_policies as policies on policies.policy_id = evidence.policy_id, askers
        where not list_has_any(policies.deny_groups, askers.groups) and list_has_any(policies.allow_layers[1], askers.groups)""",
        [principal],
    ).fetchall()


def cpu_per_call(call: Callable[[object], object], inputs: Iterable[object]) -> float:
    """Median CPU milliseconds of a call."""
    spent = []
    for one in inputs:
        before = time.process_time()
        call(one)
        spent.append((time.process_time() - before) * 1000)
    return median(spent)


def queries(count: int, *, seed: int = 3) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(f"w{int(VOCABULARY ** rng.random())}" for _ in range(rng.randint(1, 6))) for _ in range(count)]


def peers(rows: list[tuple[int, str]], texts: list[str]) -> dict[str, float]:
    """CPU milliseconds of a query with an index built per query over the filtered rows."""
    import bm25s
    from rank_bm25 import BM25Okapi

    corpus = [text.split() for _, text in rows]

    def by_rank_bm25(query: str) -> object:
        return BM25Okapi(corpus).get_top_n(query.split(), corpus, n=10)

    def by_bm25s(query: str) -> object:
        index = bm25s.BM25()
        index.index(corpus, show_progress=False)
        return index.retrieve([query.split()], k=min(10, len(corpus)), show_progress=False)

    return {"rank_bm25": cpu_per_call(by_rank_bm25, texts), "bm25s": cpu_per_call(by_bm25s, texts)}


def measure(project: Path, sizes: Iterable[int], *, count: int = 40) -> list[str]:
    """Table rows: size, principal, share seen, CPU of search, of the peers, and the ratio to the faster peer; then resolve and trace."""
    lines = ["| evidence rows | principal | sees | search | rank_bm25 | bm25s | search / faster peer |", "| --- | --- | --- | --- | --- | --- | --- |"]
    more = ["", "| evidence rows | resolve | trace_lineage |", "| --- | --- | --- |"]
    for size in sizes:
        warehouse = generated(project, size)
        warehouse.con.execute("set threads = 1")
        for principal in ("narrow", "wide"):
            rows = visible(warehouse, principal)
            texts = queries(count)
            own = cpu_per_call(lambda text: warehouse.call("search", text, as_of="2025-03-31", principal=principal), texts)
            beside = peers(rows, texts[: 5 if len(rows) < 20_000 else 2])
            lines.append(
                f"| {size:,} | {principal} | {len(rows) / size:.1%} | {own:.1f} ms | {beside['rank_bm25']:.1f} ms | {beside['bm25s']:.1f} ms | {own / min(beside.values()):.2f} |"
            )
        seen = [f"m{doc_id // 4}" for doc_id, _ in random.Random(1).sample(visible(warehouse, "wide"), count)]
        resolve = cpu_per_call(lambda name: warehouse.call("resolve", name, as_of="2026-01-01", principal="wide"), seen)
        trace = cpu_per_call(lambda name: warehouse.call("trace_lineage", name, principal="wide"), seen)
        more.append(f"| {size:,} | {resolve:.1f} ms | {trace:.1f} ms |")
        warehouse.con.close()
    return lines + more
