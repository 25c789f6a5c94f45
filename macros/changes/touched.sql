{#- What is built on the resources of `changes`, from `asker`, as the CTE `touched`: one row per changed resource and entity reached, with its
    shortest distance. As the edges stand at the time of knowing, not as they stood at the change: what is asked is what it touches now. -#}
{% macro touched_ctes() -%}
walkable as materialized (
    {{ dbt_provenance.visible_steps('upstream', 'downstream') }}
),

{{ dbt_provenance.closure_cte(roots='changes') }},

touched as materialized (
    select
        closure.project_name, closure.start_id, nodes.entity_id as touched_entity_id, min(nodes.entity_type) as touched_type, min(closure.distance) as distance
    from closure
    inner join {{ dbt_provenance.relation('prov_int_nodes') }} as nodes on nodes.project_name = closure.project_name and nodes.unique_id = closure.node_id
    inner join {{ dbt_provenance.relation('prov_int_nodes') }} as roots on roots.project_name = closure.project_name and roots.unique_id = closure.start_id
    where nodes.entity_id <> roots.entity_id
    group by closure.project_name, closure.start_id, nodes.entity_id
)
{%- endmacro %}
