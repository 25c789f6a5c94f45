{%- set relation_sql = dbt_provenance.policy_relation('policies') -%}
-- one row per binding rule, effect and group; what cannot be read is marked, and closes what the rule is about
select
    coalesce(policy_name, '') as policy_name,
    nullif(tenant, '') as rule_tenant,
    applies_to,
    coalesce(pattern, '*') as pattern,
    effect,
    group_name,
    coalesce(applies_to not in ('path', 'tag', 'dbt_group', 'resource_type', 'project'), true) as applies_to_unknown,
    coalesce(effect not in ('allow', 'deny'), true) or nullif(group_name, '') is null as is_malformed
from ({{ relation_sql }}) as declared
