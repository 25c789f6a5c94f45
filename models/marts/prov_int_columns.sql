-- one row per column, measure or dimension of a revision; those with a policy of their own carry it, the others pass with their resource
with revisions as (
    select doc_id, last_raw_id, project_name, unique_id, segment
    from {{ dbt_provenance.relation('prov_int_evidence') }}
    where evidence_type = 'definition'
),

documents as (
    select revisions.*, resources.document
    from revisions
    inner join {{ dbt_provenance.relation('prov_stg_resources') }} as resources on resources.raw_id = revisions.last_raw_id
),

parts as (
    select documents.doc_id, documents.project_name, documents.unique_id, documents.segment, 'column' as part_kind, declared.key as part_name,
        json_extract_string(declared.value, '$.description') as part_text
    from documents, json_each(documents.document, '$.columns') as declared
    {%- for list_name, part_kind in [('measures', 'measure'), ('dimensions', 'dimension'), ('entities', 'entity')] %}
    union all
    select documents.doc_id, documents.project_name, documents.unique_id, documents.segment, '{{ part_kind }}', json_extract_string(declared.value, '$.name'),
        json_extract_string(declared.value, '$.description')
    from documents, json_each(documents.document, '$.{{ list_name }}') as declared
    {%- endfor %}
)

select
    parts.doc_id,
    parts.part_kind,
    parts.part_name,
    parts.part_text,
    guards.unique_id is not null as is_guarded,
    guards.policy_id as part_policy_id
from parts
left join {{ dbt_provenance.relation('prov_int_guards') }} as guards
    on guards.project_name = parts.project_name and guards.unique_id = parts.unique_id and guards.segment = parts.segment
    and guards.part_kind = parts.part_kind and guards.part_name = parts.part_name
