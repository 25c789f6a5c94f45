{{ config(alias='lineage_closure') }}
-- one row per pair of visible resources of which one rests on the other through visible ones, with the shortest distance
with {{ dbt_provenance.session_ctes() }},

walkable as materialized (
    {{ dbt_provenance.visible_steps() }}
),

{{ dbt_provenance.closure_cte() }}

select
    closure.node_id as upstream_id,
    upstream.entity_id as upstream_entity_id,
    upstream.version_label as upstream_version,
    upstream.entity_type as upstream_type,
    closure.start_id as downstream_id,
    downstream.entity_id as downstream_entity_id,
    downstream.version_label as downstream_version,
    downstream.entity_type as downstream_type,
    closure.distance as shortest_distance
from closure
inner join {{ dbt_provenance.relation('prov_int_nodes') }} as upstream on upstream.project_name = closure.project_name and upstream.unique_id = closure.node_id
inner join {{ dbt_provenance.relation('prov_int_nodes') }} as downstream on downstream.project_name = closure.project_name and downstream.unique_id = closure.start_id
