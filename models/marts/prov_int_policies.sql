-- one row per distinct policy, with the number of layers that ask for an allowed group
select
    policy_id,
    any_value(tenant_id) as tenant_id,
    any_value(len(list_filter(layer_list, lambda one_layer: one_layer.allow is not null))) as allow_layers
from {{ dbt_provenance.relation('prov_int_guards') }}
where policy_id is not null
group by policy_id
