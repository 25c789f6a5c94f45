-- one row: how far raw had come when the build of these tables began; the last of them to be built, so that one that broke off is seen
{% for mart in [
    'prov_int_column_terms', 'prov_int_documents', 'prov_int_edges', 'prov_int_entity_evidence', 'prov_int_findings', 'prov_int_formula_periods',
    'prov_int_guarded_postings', 'prov_int_memberships', 'prov_int_names', 'prov_int_phrases', 'prov_int_policies',
    'prov_int_policy_changes'
] -%}
-- depends_on: {{ dbt_provenance.relation(mart) }}
{% endfor -%}
select
    begun.begun_through_raw_id as built_through_raw_id,
    begun.begun_at_utc,
    {{ dbt_provenance.utc_now() }} as built_at_utc,
    {{ dbt_provenance.literal(target.name) }} as target_name
from {{ dbt_provenance.relation('prov_int_begun') }} as begun
