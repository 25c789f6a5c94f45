-- one row per term and document (and guarded part of it): how often, weighed by field, and in which fields; sorted by term.
-- field_mask: 1 name, 2 synonym, 4 title, 8 column, 16 text
with fields as (
    select doc_id, cast(null as bigint) as part_policy_id, {{ dbt_provenance.tokens('entity_name') }} as field_tokens, 4 as field_weight, 1 as field_mask
    from {{ dbt_provenance.relation('prov_int_evidence') }}
    union all
    select doc_id, null, {{ dbt_provenance.tokens("array_to_string(synonyms, ' , ')") }}, 4, 2
    from {{ dbt_provenance.relation('prov_int_evidence') }}
    where may_govern and len(synonyms) > 0 and evidence_type = 'definition'
    union all
    select doc_id, null, {{ dbt_provenance.tokens('title') }}, 2, 4
    from {{ dbt_provenance.relation('prov_int_evidence') }}
    union all
    select doc_id, case when is_guarded then coalesce(part_policy_id, 0) end, {{ dbt_provenance.tokens("concat_ws(' , ', part_name, part_text)") }}, 1, 8
    from {{ dbt_provenance.relation('prov_int_columns') }}
    union all
    -- lineage texts name other resources, and what nobody wrote says nothing: neither is searched
    select doc_id, null, {{ dbt_provenance.tokens('definition_text') }}, 1, 16
    from {{ dbt_provenance.relation('prov_int_evidence') }}
    where evidence_type <> 'lineage' and not (evidence_type = 'definition' and text_origin = 'derived')
)

select
    term,
    doc_id,
    part_policy_id,
    cast(sum(field_weight) as integer) as frequency,
    cast(bit_or(field_mask) as integer) as field_mask
from (select doc_id, part_policy_id, field_weight, field_mask, unnest(field_tokens) as term from fields)
group by term, doc_id, part_policy_id
order by term, doc_id
