{#- All that lies downstream (or upstream) of many resources at once, over the edges that the asker may see at the time of knowing, from a CTE of
    `roots` with project_name and unique_id, as CTEs:

        visible_edges   those edges, with numbers for their ends: pairs of numbers are met far sooner than pairs of texts
        closure         one row per root and entity reached: root_project, root_id, far_entity_id, far_type, and closure_depth if asked for

    Breadth first over pairs of root and node, each met once (at each depth, when the depth is asked for): never over paths. -#}
{% macro closure_ctes(roots, direction='downstream', with_depth=false) -%}
{%- set near, far = ('upstream', 'downstream') if direction == 'downstream' else ('downstream', 'upstream') -%}
numbered_nodes as materialized (
    select project_name, unique_id, entity_id, entity_type, cast(row_number() over (order by project_name, unique_id) as integer) as node_number
    from {{ dbt_provenance.relation('prov_int_nodes') }}
),

visible_edges as materialized (
    select distinct near_nodes.node_number as near_number, far_nodes.node_number as far_number
    from {{ dbt_provenance.relation('prov_int_edges') }} as edges
    cross join asker
    inner join numbered_nodes as near_nodes on near_nodes.project_name = edges.project_name and near_nodes.unique_id = edges.{{ near }}_id
    inner join numbered_nodes as far_nodes on far_nodes.project_name = edges.project_name and far_nodes.unique_id = edges.{{ far }}_id
    where edges.recorded_from_utc <= asker.given_known_at
      and coalesce(edges.recorded_to_utc > asker.given_known_at, true)
      and {{ dbt_provenance.may_name('edges.upstream_policy_id', 'edges.upstream_entity_id', 'edges.upstream_evidence_id') }}
      and {{ dbt_provenance.may_name('edges.downstream_policy_id', 'edges.downstream_entity_id', 'edges.downstream_evidence_id') }}
),

closure_roots as (
    select distinct nodes.node_number as root_number
    from {{ roots }} as roots
    inner join numbered_nodes as nodes on nodes.project_name = roots.project_name and nodes.unique_id = roots.unique_id
),

reached as (
    with recursive walked as (
        select closure_roots.root_number, edges.far_number as node_number{{ ', 1 as steps_taken' if with_depth }}
        from closure_roots
        inner join visible_edges as edges on edges.near_number = closure_roots.root_number
        union
        select walked.root_number, edges.far_number{{ ', walked.steps_taken + 1' if with_depth }}
        from walked
        inner join visible_edges as edges on edges.near_number = walked.node_number
        {%- if with_depth %}
        where walked.steps_taken < 50
        {%- endif %}
    )

    select * from walked
),

closure as materialized (
    select
        root_nodes.project_name as root_project, root_nodes.unique_id as root_id, root_nodes.entity_id as root_entity_id,
        far_nodes.entity_id as far_entity_id, min(far_nodes.entity_type) as far_type
        {{- ', min(reached.steps_taken) as closure_depth' if with_depth }}
    from reached
    inner join numbered_nodes as root_nodes on root_nodes.node_number = reached.root_number
    inner join numbered_nodes as far_nodes on far_nodes.node_number = reached.node_number
    where far_nodes.entity_id <> root_nodes.entity_id
    group by root_nodes.project_name, root_nodes.unique_id, root_nodes.entity_id, far_nodes.entity_id
)
{%- endmacro %}
