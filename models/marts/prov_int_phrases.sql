-- one row per searchable revision, and one per part of it that has a policy of its own: the words of its fields in order, a bar between
-- fields, for what is quoted in a query
with fields as (
    select
        doc_id, cast(null as bigint) as part_policy_id,
        list_concat(
            [entity_name, title],
            case when may_govern and evidence_type = 'definition' then synonyms end,
            case when evidence_type <> 'lineage' and not (evidence_type = 'definition' and text_origin = 'derived') then [definition_text] end
        ) as field_list
    from {{ dbt_provenance.relation('prov_int_evidence') }}
    where policy_id is not null
    union all
    select doc_id, case when is_guarded then coalesce(part_policy_id, 0) end, [part_name, part_text]
    from {{ dbt_provenance.relation('prov_int_columns') }}
),

single as (
    select doc_id, part_policy_id, {{ dbt_provenance.words('field_text') }} as field_words
    from (select doc_id, part_policy_id, unnest(field_list) as field_text from fields)
    where field_text is not null
)

select doc_id, part_policy_id, ' ' || string_agg(array_to_string(field_words, ' '), ' | ') || ' ' as phrase_text
from single
group by doc_id, part_policy_id
