{{ config(alias='acl_grants') }}
-- one row per rule that lets the asker see an entity: the layer, and the group through which it was reached; the service role sees all rules
with {{ dbt_provenance.session_ctes() }},

anchors as (
    select raw_id, project_name, unique_id
    from {{ dbt_provenance.relation('prov_stg_resources') }}
    where is_last_of_segment
    qualify row_number() over (partition by project_name, unique_id order by segment desc) = 1
),

current_layers as (
    select anchors.project_name, anchors.unique_id, layers.layer_kind, layers.layer_name, 'allow' as effect, unnest(layers.allow_groups) as group_name
    from anchors
    inner join {{ dbt_provenance.relation('prov_int_layers') }} as layers on layers.raw_id = anchors.raw_id and layers.part_kind = ''
    union all
    select anchors.project_name, anchors.unique_id, layers.layer_kind, layers.layer_name, 'deny', unnest(layers.deny_groups)
    from anchors
    inner join {{ dbt_provenance.relation('prov_int_layers') }} as layers on layers.raw_id = anchors.raw_id and layers.part_kind = ''
)

select distinct
    nodes.entity_id,
    nodes.entity_type,
    nodes.unique_id,
    nodes.tenant_id as tenant,
    layers.layer_kind,
    layers.layer_name,
    layers.effect,
    layers.group_name
from {{ dbt_provenance.relation('prov_int_nodes') }} as nodes
inner join current_layers as layers on layers.project_name = nodes.project_name and layers.unique_id = nodes.unique_id
cross join asker
where asker.is_known
  and nodes.tenant_id = asker.tenant_id
  and not list_has_any(asker.struck_keys, [nodes.entity_id, nodes.evidence_id])
  and (
      asker.is_service
      or (
          layers.effect = 'allow'
          and list_contains(asker.group_list, layers.group_name)
          and list_contains(asker.policy_list, nodes.policy_id)
      )
  )
