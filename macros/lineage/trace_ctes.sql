{#- A walk over the lineage graph, breadth first over pairs of node and depth, through nodes that the asker may see; where a neighbour may not
    be seen there is one mark, which says nothing else. Reads a CTE `given` with given_entity, given_direction ('upstream', 'downstream' or
    'both'), given_depth, given_kinds, given_date, given_known_at. Gives `walked_edges`. -#}
{% macro trace_ctes() -%}
{{ dbt_provenance.asker_ctes() }},

term_hits as materialized (
    select names.tier, names.entity_id, names.pinned_version, names.doc_id
    from {{ dbt_provenance.relation('prov_int_names') }} as names
    where names.term = (select given_entity from given) and names.tier <= 3
),

seen as materialized (
    select evidence.*
    from {{ dbt_provenance.relation('prov_int_evidence') }} as evidence
    where evidence.entity_id in (select entity_id from term_hits)
      and evidence.evidence_type <> 'page_piece'
      and evidence.recorded_from_utc <= (select given_known_at from given)
      and {{ dbt_provenance.may_see('evidence') }}
),

{{ dbt_provenance.standing_ctes() }},

hits as (
    select term_hits.entity_id, term_hits.pinned_version, standing.kind_rank, standing.unique_id, standing.doc_id
    from term_hits
    inner join standing on standing.doc_id = term_hits.doc_id
    qualify term_hits.tier = min(term_hits.tier) over ()
),

{{ dbt_provenance.rival_ctes() }},

-- where the walk begins: the resources of the one entity that answers to the text, whose statement holds on the date
starts as materialized (
    select distinct standing.project_name as node_project, standing.unique_id as node_id
    from hits
    inner join standing
        on standing.entity_id = hits.entity_id
        and (hits.pinned_version is null or standing.version_label = hits.pinned_version)
    cross join given
    where hits.entity_id not in (select entity_id from outranked)
      and (select count(distinct entity_id) from hits where entity_id not in (select entity_id from outranked)) = 1
      and (given.given_date is null or {{ dbt_provenance.holds_on('standing', 'given.given_date') }})
      -- a page that defines an entity is no part of it
      and (standing.source_kind <> 'page' or standing.entity_type = 'doc')
),

steps as materialized (
    select
        edges.*,
        coalesce(edges.upstream_policy_id in (select policy_id from visible_policies), false)
            and {{ dbt_provenance.is_not_struck('edges.upstream_entity_id', 'edges.upstream_evidence_id') }} as upstream_is_visible,
        coalesce(edges.downstream_policy_id in (select policy_id from visible_policies), false)
            and {{ dbt_provenance.is_not_struck('edges.downstream_entity_id', 'edges.downstream_evidence_id') }} as downstream_is_visible
    from {{ dbt_provenance.relation('prov_int_edges') }} as edges
    cross join given
    where edges.recorded_from_utc <= given.given_known_at
      and coalesce(edges.recorded_to_utc > given.given_known_at, true)
      and coalesce(strpos(given.given_kinds, ',' || edges.edge_kind || ',') > 0, true)
      and exists (select 1 from starts)
),

walked as (
    with recursive reached as (
        select starts.node_project, starts.node_id, 0 as steps_taken, sides.side
        from starts
        cross join given
        inner join (values ('upstream'), ('downstream')) as sides (side) on given.given_direction in (sides.side, 'both')
        union
        select reached.node_project, case reached.side when 'upstream' then steps.upstream_id else steps.downstream_id end, reached.steps_taken + 1, reached.side
        from reached
        cross join given
        inner join steps
            on steps.project_name = reached.node_project and steps.upstream_is_visible and steps.downstream_is_visible
            and ((reached.side = 'upstream' and steps.downstream_id = reached.node_id) or (reached.side = 'downstream' and steps.upstream_id = reached.node_id))
        where reached.steps_taken + 1 < given.given_depth
    )

    select node_project, node_id, side, min(steps_taken) as steps_taken
    from reached
    group by node_project, node_id, side
),

walked_edges as (
    select
        walked.side,
        walked.steps_taken + 1 as edge_depth,
        steps.*,
        case walked.side when 'upstream' then not steps.upstream_is_visible else not steps.downstream_is_visible end as is_hidden
    from walked
    inner join steps
        on steps.project_name = walked.node_project
        and ((walked.side = 'upstream' and steps.downstream_id = walked.node_id and steps.downstream_is_visible)
            or (walked.side = 'downstream' and steps.upstream_id = walked.node_id and steps.upstream_is_visible))
),

-- one row an edge; at most one mark for each visible node and direction
traced as (
    select edge_depth, side, edge_kind, edge_role, upstream_id, upstream_entity_id, upstream_version_label, upstream_type,
        downstream_id, downstream_entity_id, downstream_version_label, downstream_type, recorded_from_utc, false as is_mark
    from walked_edges
    where not is_hidden
    union all
    select distinct edge_depth, side, null, null,
        case when side = 'downstream' then upstream_id end, case when side = 'downstream' then upstream_entity_id end,
        case when side = 'downstream' then upstream_version_label end, case when side = 'downstream' then upstream_type end,
        case when side = 'upstream' then downstream_id end, case when side = 'upstream' then downstream_entity_id end,
        case when side = 'upstream' then downstream_version_label end, case when side = 'upstream' then downstream_type end,
        cast(null as timestamp), true
    from walked_edges
    where is_hidden
)
{%- endmacro %}

{% macro trace_select() -%}
select
    edge_depth as depth,
    side as direction,
    edge_kind as kind,
    edge_role as relation_role,
    upstream_id,
    upstream_entity_id,
    upstream_version_label as upstream_version,
    upstream_type,
    downstream_id,
    downstream_entity_id,
    downstream_version_label as downstream_version,
    downstream_type,
    cast(null as varchar) as upstream_column,
    cast(null as varchar) as downstream_column,
    'unknown' as column_lineage,
    recorded_from_utc,
    is_mark as redacted
from traced
order by side, edge_depth, upstream_id, downstream_id, edge_kind, edge_role
{%- endmacro %}
