{#- Which visible resource rests on which, at any depth: each pair once with its shortest distance; cycles end. Starts from the pairs of a CTE
    `walkable` (project_name, near_id, far_id, each once: from a resource to the one next to it) and gives `closure` (project_name, start_id,
    node_id, distance); of all, or from the resources of a CTE of `roots` alone (project_name, unique_id). Never by paths: through 12 layers of 30 models there are 30^12 of them, and 59,400 pairs. -#}
{% macro closure_cte(roots=none) -%}
    {{ return(adapter.dispatch('closure_cte', 'dbt_provenance')(roots)) }}
{%- endmacro %}

{#- Each turn adds the pairs that were not reached before. -#}
{% macro duckdb__closure_cte(roots) -%}
closure as (
    with recursive reached (project_name, start_id, node_id, distance) using key (project_name, start_id, node_id) as (
        select project_name, near_id, far_id, 1 from walkable
        {%- if roots %}
        where (project_name, near_id) in (select (project_name, unique_id) from {{ roots }})
        {%- endif %}
        union
        select reached.project_name, reached.start_id, walkable.far_id, min(reached.distance) + 1
        from reached
        inner join walkable on walkable.project_name = reached.project_name and walkable.near_id = reached.node_id
        left join recurring.reached as earlier
            on earlier.project_name = reached.project_name and earlier.start_id = reached.start_id and earlier.node_id = walkable.far_id
        where earlier.node_id is null
        group by reached.project_name, reached.start_id, walkable.far_id
    )

    select project_name, start_id, node_id, distance from reached where start_id <> node_id
)
{%- endmacro %}

{#- Whether an edge stands at the time of knowing, and both its ends may be seen: of `edges`, beside `asker`. -#}
{% macro edge_is_visible() -%}
    edges.recorded_from_utc <= asker.given_known_at
    and coalesce(edges.recorded_to_utc > asker.given_known_at, true)
    and {{ dbt_provenance.may_name('edges.upstream_policy_id', 'edges.upstream_entity_id', 'edges.upstream_evidence_id') }}
    and {{ dbt_provenance.may_name('edges.downstream_policy_id', 'edges.downstream_entity_id', 'edges.downstream_evidence_id') }}
{%- endmacro %}

{#- The edges between visible resources as known at the time of knowing, each pair once: from the downstream one to the upstream one, or the
    other way. -#}
{% macro visible_steps(near='downstream', far='upstream') -%}
select distinct edges.project_name, edges.{{ near }}_id as near_id, edges.{{ far }}_id as far_id
from {{ dbt_provenance.relation('prov_int_edges') }} as edges
cross join asker
where {{ dbt_provenance.edge_is_visible() }}
{%- endmacro %}

{#- What lies upstream of a resource, at any depth, by a few labels (how fresh a source is; that something is hidden) and not by pairs: from the
    CTEs `walkable` (project_name, near_id, far_id: from a resource to one that is built on it) and `labelled` (project_name, node_id, label,
    origin_id) the CTE `spread`: each label that reaches a resource once, with the nearest place that it comes from. -#}
{% macro spread_cte() -%}
    {{ return(adapter.dispatch('spread_cte', 'dbt_provenance')()) }}
{%- endmacro %}

{% macro duckdb__spread_cte() -%}
spread as (
    with recursive reached (project_name, node_id, label, origin_id) using key (project_name, node_id, label) as (
        select project_name, node_id, label, min(origin_id) from labelled group by project_name, node_id, label
        union
        select reached.project_name, walkable.far_id, reached.label, min(reached.origin_id)
        from reached
        inner join walkable on walkable.project_name = reached.project_name and walkable.near_id = reached.node_id
        left join recurring.reached as earlier
            on earlier.project_name = reached.project_name and earlier.node_id = walkable.far_id and earlier.label = reached.label
        where earlier.node_id is null
        group by reached.project_name, walkable.far_id, reached.label
    )

    select project_name, node_id, label, origin_id from reached
)
{%- endmacro %}
