{%- set relation_sql = dbt_provenance.policy_relation('authority') -%}
-- one row per rule of the authority order
select rule_kind, subject, rule_rank, nullif(highest_status, '') as highest_status, may_govern, speaks_for_others
from ({{ relation_sql }}) as declared
