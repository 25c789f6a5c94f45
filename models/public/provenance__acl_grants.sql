{{ config(alias='acl_grants') }}
-- one row per rule that lets the asker see an entity: the layer, and the group through which it was reached; the service role sees all rules
with {{ dbt_provenance.session_ctes() }}

select distinct
    nodes.entity_id,
    nodes.entity_type,
    nodes.unique_id,
    nodes.tenant_id as tenant,
    layers.layer_kind,
    layers.layer_name,
    wanted.effect,
    wanted.group_name
from {{ dbt_provenance.relation('prov_int_nodes') }} as nodes
inner join {{ dbt_provenance.relation('prov_stg_resources') }} as anchors
    on anchors.project_name = nodes.project_name and anchors.unique_id = nodes.unique_id and anchors.is_last_of_segment
inner join {{ dbt_provenance.relation('prov_int_layers') }} as layers on layers.raw_id = anchors.raw_id and layers.part_kind = ''
inner join (
    select raw_id, layer_kind, layer_name, 'allow' as effect, unnest(allow_groups) as group_name from {{ dbt_provenance.relation('prov_int_layers') }} where part_kind = ''
    union all
    select raw_id, layer_kind, layer_name, 'deny', unnest(deny_groups) from {{ dbt_provenance.relation('prov_int_layers') }} where part_kind = ''
) as wanted
    on wanted.raw_id = layers.raw_id and wanted.layer_kind = layers.layer_kind and wanted.layer_name is not distinct from layers.layer_name
cross join asker
where nodes.tenant_id = asker.tenant_id
  and (
      asker.is_service
      or (
          wanted.effect = 'allow'
          and list_contains(asker.group_list, wanted.group_name)
          and nodes.policy_id in (select policy_id from visible_policies)
          and {{ dbt_provenance.is_not_struck('nodes.entity_id', 'nodes.evidence_id') }}
      )
  )
