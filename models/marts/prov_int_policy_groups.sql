-- one row per policy, layer, effect and group
with policies as (
    select policy_id, any_value(layer_list) as layer_list
    from {{ dbt_provenance.relation('prov_int_guards') }}
    where policy_id is not null
    group by policy_id
),

layers as (
    select policy_id, generate_subscripts(layer_list, 1) as layer_number, unnest(layer_list) as layer
    from policies
)

select policy_id, layer_number, 'allow' as effect, unnest(layer.allow) as group_name from layers
union all
select policy_id, layer_number, 'deny' as effect, unnest(layer.deny) as group_name from layers
