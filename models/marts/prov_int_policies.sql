-- one row per distinct policy: the groups that each layer allows (one of each must be met) and all that any layer denies
select
    policy_id,
    any_value(tenant_id) as tenant_id,
    any_value(list_filter(list_transform(layer_list, lambda one_layer: one_layer.allow), lambda one_allow: one_allow is not null)) as allow_layers,
    any_value(coalesce(flatten(list_filter(list_transform(layer_list, lambda one_layer: one_layer.deny), lambda one_deny: one_deny is not null)), [])) as deny_groups
from {{ dbt_provenance.relation('prov_int_guards') }}
where policy_id is not null
group by policy_id
