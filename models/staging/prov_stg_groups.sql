{%- set relation_sql = dbt_provenance.policy_relation('groups') -%}
-- one row per group and group that it is inside
select
    coalesce(nullif(tenant, ''), {{ dbt_provenance.literal(var('provenance_default_tenant', 'default')) }}) as tenant_id,
    group_name,
    parent_group
from ({{ relation_sql }}) as declared
where nullif(group_name, '') is not null and nullif(parent_group, '') is not null
