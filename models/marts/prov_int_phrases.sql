-- one row per searchable revision: the words of its fields in order, a bar between fields, for what is quoted in a query
select
    doc_id,
    ' ' || concat_ws(' | ',
        array_to_string({{ dbt_provenance.words('entity_name') }}, ' '),
        array_to_string({{ dbt_provenance.words('title') }}, ' '),
        case when may_govern and evidence_type = 'definition' then array_to_string({{ dbt_provenance.words("array_to_string(synonyms, ' , ')") }}, ' ') end,
        case when evidence_type <> 'lineage' and not (evidence_type = 'definition' and text_origin = 'derived') then array_to_string({{ dbt_provenance.words('definition_text') }}, ' ') end
    ) || ' ' as phrase_text
from {{ dbt_provenance.relation('prov_int_evidence') }}
where policy_id is not null
