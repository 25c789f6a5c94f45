-- one row per text that an entity answers to and the evidence that gives it; tier 0 id, 1 type.name, 2 name, 3 synonym, 4 title
with evidence as (
    select doc_id, entity_id, entity_type, entity_name, unique_id, resource_type, evidence_type, version_label, dbt_version_label, title, synonyms, may_govern, source_kind, policy_id
    from {{ dbt_provenance.relation('prov_int_evidence') }}
    where evidence_type <> 'page_piece'
),

-- a dbt name that differs from the entity's, or carries a version, pins that version
own_names as (
    select
        *,
        case
            when source_kind = 'page' then null
            when evidence_type <> 'definition' then null
            when dbt_version_label is not null then entity_name || '.v' || dbt_version_label
            else nullif(regexp_replace(unique_id, '^[a-z_]+\.[^.]+\.', ''), entity_name)
        end as pinned_name
    from evidence
),

listed as (
    select doc_id, entity_id, policy_id, 0 as tier, entity_id as term, cast(null as varchar) as pinned_version from evidence
    union all
    select doc_id, entity_id, policy_id, 0, unique_id, version_label from own_names where pinned_name is not null
    union all
    select doc_id, entity_id, policy_id, 0, entity_id || '.v' || version_label, version_label from evidence where version_label is not null and evidence_type <> 'definition'
    union all
    select doc_id, entity_id, policy_id, 1, entity_type || '.' || entity_name, null from evidence
    union all
    select doc_id, entity_id, policy_id, 1, entity_type || '.' || pinned_name, version_label from own_names where pinned_name is not null
    union all
    select doc_id, entity_id, policy_id, 2, entity_name, null from evidence where evidence_type = 'definition'
    union all
    select doc_id, entity_id, policy_id, 2, substr(entity_name, strpos(entity_name, '.') + 1), null from evidence
    where evidence_type = 'definition' and entity_type = 'source' and strpos(entity_name, '.') > 0
    union all
    select doc_id, entity_id, policy_id, 2, pinned_name, version_label from own_names where pinned_name is not null
    union all
    select doc_id, entity_id, policy_id, 2, entity_name || '_v' || dbt_version_label, version_label from own_names where dbt_version_label is not null and pinned_name is not null
    union all
    select doc_id, entity_id, policy_id, 3, unnest(synonyms), null from evidence where evidence_type = 'definition' and may_govern
    union all
    select doc_id, entity_id, policy_id, 4, title, null from evidence where evidence_type = 'definition'
),

final as (
    select distinct
        lower(trim(term)) as term,
        tier,
        entity_id,
        pinned_version,
        doc_id,
        policy_id,
        array_to_string({{ dbt_provenance.words('term') }}, ' ') as span_key
    from listed
    where trim(term) <> ''
)

select * from final
order by term
