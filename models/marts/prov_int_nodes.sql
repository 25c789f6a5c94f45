-- one row per resource that lineage can name: its entity and the policy that guards it today
with newest as (
    select project_name, unique_id, entity_id, entity_type, entity_name, version_label, segment, resource_type,
        coalesce(source_uri_text, original_file_path) as source_uri
    from {{ dbt_provenance.relation('prov_int_subjects') }}
    where resource_type <> 'page_piece'
    qualify row_number() over (partition by project_name, unique_id order by raw_id desc) = 1
)

select
    newest.project_name,
    newest.unique_id,
    newest.resource_type,
    newest.entity_id,
    newest.entity_type,
    newest.entity_name,
    newest.version_label,
    newest.source_uri,
    guards.tenant_id,
    guards.policy_id,
    guards.tenant_id || '/' || newest.project_name || '/' || newest.unique_id || '/' || coalesce(newest.version_label, '') || '/definition' as evidence_id
from newest
left join {{ dbt_provenance.relation('prov_int_guards') }} as guards
    on guards.project_name = newest.project_name and guards.unique_id = newest.unique_id and guards.segment = newest.segment and guards.part_kind = ''
