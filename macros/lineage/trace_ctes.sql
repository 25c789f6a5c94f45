{#- A walk over the lineage graph, breadth first over pairs of node and depth, through nodes that the asker may see; where a neighbour may not
    be seen there is one mark, which says nothing else. Reads a CTE `given` with given_entity, given_direction ('upstream', 'downstream' or
    'both'), given_depth, given_kinds, given_date, given_known_at. Gives `traced`. -#}
{% macro trace_ctes() -%}
{{ dbt_provenance.asker_ctes() }},

{{ dbt_provenance.term_hits_cte() }},

seen as materialized (
    select {{ dbt_provenance.seen_columns('evidence') }}, cast(null as date) as formula_from, cast(null as date) as formula_to, cast(null as varchar) as about_entity_id
    from {{ dbt_provenance.relation('prov_int_evidence') }} as evidence
    cross join asker
    where evidence.entity_id in (select entity_id from term_hits)
      and evidence.evidence_type <> 'page_piece'
      and evidence.recorded_from_utc <= asker.given_known_at
      and {{ dbt_provenance.may_see('evidence') }}
),

{{ dbt_provenance.standing_ctes() }},

{{ dbt_provenance.named_ctes() }},

-- where the walk begins: the resources of the one entity that answers to the text, whose statement holds on the date
starts as materialized (
    select distinct standing.project_name as node_project, standing.unique_id as node_id
    from named
    inner join standing
        on standing.entity_id = named.entity_id and named.named_count = 1
        and (named.pinned_version is null or standing.version_label = named.pinned_version)
    cross join asker
    where (asker.given_date is null or {{ dbt_provenance.holds_on('standing', 'asker.given_date') }})
      -- a page that defines an entity is no part of it
      and (standing.source_kind <> 'page' or standing.entity_type = 'doc')
),

-- the edges as they are walked: from the node that is near to the one that is far
steps as not materialized (
    {%- for side, near, far in [('upstream', 'downstream', 'upstream'), ('downstream', 'upstream', 'downstream')] %}
    select '{{ side }}' as side, edges.{{ near }}_id as near_id, edges.{{ far }}_id as far_id,
        edges.{{ near }}_policy_id as near_policy_id, edges.{{ near }}_entity_id as near_entity_id, edges.{{ near }}_evidence_id as near_evidence_id,
        edges.{{ far }}_policy_id as far_policy_id, edges.{{ far }}_entity_id as far_entity_id, edges.{{ far }}_evidence_id as far_evidence_id,
        edges.project_name, edges.upstream_id, edges.upstream_entity_id, edges.upstream_version_label, edges.upstream_type,
        edges.downstream_id, edges.downstream_entity_id, edges.downstream_version_label, edges.downstream_type, edges.edge_kind, edges.edge_role, edges.recorded_from_utc
    from {{ dbt_provenance.relation('prov_int_edges') }} as edges
    cross join given
    where edges.project_name in (select starts.node_project from starts cross join given where given.given_direction in ('{{ side }}', 'both'))
      and edges.recorded_from_utc <= given.given_known_at
      and coalesce(edges.recorded_to_utc > given.given_known_at, true)
      and coalesce(strpos(given.given_kinds, ',' || edges.edge_kind || ',') > 0, true)
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}
),

walkable as materialized (
    select steps.side, steps.project_name, steps.near_id, steps.far_id
    from steps
    cross join (select struck_keys from asker) as ledger
    where steps.near_policy_id in (select policy_id from visible_policies)
      and steps.far_policy_id in (select policy_id from visible_policies)
      and case when len(ledger.struck_keys) = 0 then true
          else not list_has_any(ledger.struck_keys, [steps.near_entity_id, steps.near_evidence_id, steps.far_entity_id, steps.far_evidence_id]) end
),

walked as (
    with recursive reached as (
        select starts.node_project, starts.node_id, 0 as steps_taken, sides.side
        from starts
        cross join given
        inner join (values ('upstream'), ('downstream')) as sides (side) on given.given_direction in (sides.side, 'both')
        union
        select reached.node_project, walkable.far_id, reached.steps_taken + 1, reached.side
        from reached
        inner join walkable on walkable.near_id = reached.node_id and walkable.project_name = reached.node_project and walkable.side = reached.side
        cross join asker
        where reached.steps_taken + 1 < asker.given_depth
    )

    select node_project, node_id, side, min(steps_taken) as steps_taken
    from reached
    group by node_project, node_id, side
),

-- an edge may be of a state of its nodes that is hidden where the node is not
walked_edges as (
    select
        walked.steps_taken + 1 as edge_depth,
        steps.*,
        not ({{ dbt_provenance.may_name('steps.far_policy_id', 'steps.far_entity_id', 'steps.far_evidence_id') }}) as is_hidden
    from walked
    inner join steps on steps.near_id = walked.node_id and steps.project_name = walked.node_project and steps.side = walked.side
    cross join asker
    where {{ dbt_provenance.may_name('steps.near_policy_id', 'steps.near_entity_id', 'steps.near_evidence_id') }}
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
