{{ config(alias='lineage_edges') }}
-- one row per edge between two resources that the asker may see, and interval in which it was known; which run built what is an edge, too
with {{ dbt_provenance.session_ctes() }},

{{ dbt_provenance.visible_resource_ctes() }},

{{ dbt_provenance.retiring_ctes() }},

-- the last run that built each resource
last_built as (
    select results.invocation_id, results.project_name, results.unique_id, results.finished_at_utc, results.recorded_at_utc
    from {{ dbt_provenance.relation('prov_raw_run_results') }} as results
    where results.run_status in ('success', 'pass')
      and coalesce(results.recorded_at_utc <= (select given_known_at from given), true)
      and results.unique_id not like 'test.%' and results.unique_id not like 'unit_test.%' and results.unique_id not like 'source.%'
    qualify row_number() over (partition by results.project_name, results.unique_id order by results.recorded_at_utc desc) = 1
)

select
    edges.edge_kind as kind,
    edges.edge_role as relation_role,
    edges.upstream_id,
    edges.upstream_entity_id,
    edges.upstream_version_label as upstream_version,
    edges.upstream_type,
    edges.downstream_id,
    edges.downstream_entity_id,
    edges.downstream_version_label as downstream_version,
    edges.downstream_type,
    cast(null as varchar) as upstream_column,
    cast(null as varchar) as downstream_column,
    'unknown' as column_lineage,
    leaning.retired_status as upstream_retired,
    leaning.deprecation_date as upstream_deprecation_date,
    leaning.replacing_version as upstream_replaced_by,
    edges.recorded_from_utc,
    case when edges.recorded_to_utc <= asker.given_known_at then edges.recorded_to_utc end as recorded_to_utc
from {{ dbt_provenance.relation('prov_int_edges') }} as edges
left join leaning
    on leaning.project_name = edges.project_name and leaning.upstream_id = edges.upstream_id and leaning.downstream_id = edges.downstream_id
    and leaning.edge_kind = edges.edge_kind and leaning.edge_role = edges.edge_role and leaning.recorded_from_utc = edges.recorded_from_utc
cross join asker
where edges.recorded_from_utc <= asker.given_known_at
  and {{ dbt_provenance.may_name('edges.upstream_policy_id', 'edges.upstream_entity_id', 'edges.upstream_evidence_id') }}
  and {{ dbt_provenance.may_name('edges.downstream_policy_id', 'edges.downstream_entity_id', 'edges.downstream_evidence_id') }}
union all
select
    'execution',
    'built',
    'run.' || last_built.invocation_id,
    null,
    null,
    'run',
    nodes.unique_id,
    nodes.entity_id,
    nodes.version_label,
    nodes.entity_type,
    null,
    null,
    'unknown',
    null,
    null,
    null,
    last_built.finished_at_utc,
    null
from last_built
inner join visible_resources on visible_resources.project_name = last_built.project_name and visible_resources.unique_id = last_built.unique_id
    and coalesce(last_built.recorded_at_utc >= visible_resources.visible_from_utc, visible_resources.visible_from_utc = timestamp '0001-01-01')
inner join {{ dbt_provenance.relation('prov_int_nodes') }} as nodes on nodes.project_name = last_built.project_name and nodes.unique_id = last_built.unique_id
