-- one row per state of a resource or page whose declared policy (allow, deny, tenant, of itself or of a part) differs from the state before
-- depends_on: {{ dbt_provenance.relation('prov_int_begun') }}
with declared as (
    select raw_id, list_sort(list(concat_ws(chr(31), part_kind, part_name, place, declared_key, cast(coalesce(list_sort(value_list), [cast(declared_value as varchar)]) as varchar)))) as declared_policy
    from {{ dbt_provenance.relation('prov_stg_meta') }}
    where declared_key in ('allow', 'deny', 'tenant')
    group by raw_id
),

states as (
    select resources.raw_id, resources.project_name, resources.unique_id, resources.recorded_from_utc, coalesce(declared.declared_policy, []) as declared_policy
    from {{ dbt_provenance.relation('prov_stg_resources') }} as resources
    left join declared on declared.raw_id = resources.raw_id
    where resources.document is not null and not resources.is_own_package
),

final as (
    select raw_id, project_name, unique_id, recorded_from_utc
    from states
    qualify declared_policy is distinct from lag(declared_policy) over (partition by project_name, unique_id order by raw_id)
        and lag(raw_id) over (partition by project_name, unique_id order by raw_id) is not null
)

select * from final
