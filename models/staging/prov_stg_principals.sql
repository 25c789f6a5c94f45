{%- set relation_sql = dbt_provenance.policy_relation('principals') -%}
-- one row per principal, tenant and group that it is directly in; a principal in none has a null group
select
    principal as principal_id,
    coalesce(nullif(tenant, ''), {{ dbt_provenance.literal(var('provenance_default_tenant', 'default')) }}) as tenant_id,
    nullif(group_name, '') as group_name,
    coalesce(principal_role, '') = 'service' as is_service
from ({{ relation_sql }}) as declared
where nullif(principal, '') is not null
