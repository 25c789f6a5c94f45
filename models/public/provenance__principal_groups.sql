{{ config(alias='principal_groups') }}
-- one row per group that the asker is in, directly or through other groups; the service role sees everybody's in its tenant
with {{ dbt_provenance.session_ctes() }}

select
    memberships.principal_id as principal,
    memberships.tenant_id as tenant,
    memberships.group_name
from {{ dbt_provenance.relation('prov_int_memberships') }} as memberships
inner join asker on asker.is_known and asker.tenant_id = memberships.tenant_id and (asker.is_service or asker.principal_id = memberships.principal_id)
where memberships.group_name is not null
