-- one row per principal, tenant and group that it is in, directly or through groups inside groups; a cycle ends because pairs are unique
-- depends_on: {{ dbt_provenance.relation('prov_int_begun') }}
with recursive reached as (
    select principal_id, tenant_id, group_name
    from {{ dbt_provenance.relation('prov_stg_principals') }}
    union
    select reached.principal_id, reached.tenant_id, nested.parent_group
    from reached
    inner join {{ dbt_provenance.relation('prov_stg_groups') }} as nested
        on nested.tenant_id = reached.tenant_id and nested.group_name = reached.group_name
)

select
    reached.principal_id,
    reached.tenant_id,
    reached.group_name,
    services.principal_id is not null as is_service
from reached
left join (
    select distinct principal_id, tenant_id from {{ dbt_provenance.relation('prov_stg_principals') }} where is_service
) as services
    on services.principal_id = reached.principal_id and services.tenant_id = reached.tenant_id
