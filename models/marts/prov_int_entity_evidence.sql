-- one row per entity and evidence on it, or page that says it is about it: by its id, its type and name, or its name
with evidence as (
    select doc_id, entity_id, entity_type, entity_name, evidence_type, source_kind, lower(about_text) as about_term
    from {{ dbt_provenance.relation('prov_int_evidence') }}
    where evidence_type <> 'page_piece'
),

called as (
    select distinct entity_id, unnest([lower(entity_id), lower(entity_type || '.' || entity_name), lower(entity_name)]) as called
    from evidence
)

select entity_id, doc_id, cast(null as varchar) as about_entity_id
from evidence
union all
select distinct called.entity_id, pages.doc_id, called.entity_id
from evidence as pages
inner join called on called.called = pages.about_term and called.entity_id <> pages.entity_id
where pages.source_kind = 'page' and pages.evidence_type = 'definition'
order by entity_id
