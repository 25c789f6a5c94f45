{#- How fresh what a resource rests on is, and whether its lineage is known: from `asker` and `freshness_states` the CTE `upstream_states`, one row a
    resource that the asker may see and that is there now, over the visible resources upstream of it and itself. What may not be seen, or is
    not there, makes it incomplete and says nothing else: no name and no count. -#}
{% macro upstream_ctes() -%}
steps_of_now as materialized (
    select
        edges.project_name, edges.upstream_id, edges.downstream_id,
        {{ dbt_provenance.may_name('edges.upstream_policy_id', 'edges.upstream_entity_id', 'edges.upstream_evidence_id') }} as is_visible
    from {{ dbt_provenance.relation('prov_int_edges') }} as edges
    cross join asker
    where edges.edge_role in ('depends on', 'filter')
      and edges.recorded_from_utc <= asker.given_known_at
      and coalesce(edges.recorded_to_utc > asker.given_known_at, true)
      and {{ dbt_provenance.may_name('edges.downstream_policy_id', 'edges.downstream_entity_id', 'edges.downstream_evidence_id') }}
),

walkable as materialized (
    select distinct project_name, upstream_id as near_id, downstream_id as far_id from steps_of_now where is_visible
),

-- label 0 is that something upstream may not be seen, the others are the ranks of freshness
labelled as (
    select project_name, downstream_id as node_id, 0 as label, cast(null as varchar) as origin_id from steps_of_now where not is_visible
    union all
    select project_name, unique_id, severity_rank, unique_id from freshness_states
),

{{ dbt_provenance.spread_cte() }},

reaching as (
    select
        project_name, node_id,
        max(label) as worst_rank,
        arg_max(origin_id, label) as worst_source_id,
        bool_or(label = 0) as is_incomplete
    from spread
    group by project_name, node_id
),

linked as (
    select distinct project_name, downstream_id from steps_of_now
),

upstream_states as (
    select
        subjects.project_name, subjects.unique_id, subjects.entity_id, subjects.resource_type, subjects.version_label,
        nullif(reaching.worst_rank, 0) as worst_rank,
        reaching.worst_source_id,
        coalesce(reaching.is_incomplete, false) as is_incomplete,
        linked.downstream_id is not null or subjects.resource_type in ('source', 'seed') as has_lineage
    from {{ dbt_provenance.relation('prov_int_subjects') }} as subjects
    inner join visible_resources on visible_resources.project_name = subjects.project_name and visible_resources.unique_id = subjects.unique_id
    left join reaching on reaching.project_name = subjects.project_name and reaching.node_id = subjects.unique_id
    left join linked on linked.project_name = subjects.project_name and linked.downstream_id = subjects.unique_id
    where subjects.recorded_to_utc is null and subjects.resource_type not in ('page', 'page_piece', 'doc')
)
{%- endmacro %}
