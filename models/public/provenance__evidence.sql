{{ config(alias='evidence') }}
-- one row per revision of an evidence that the asker may see, known by then
with {{ dbt_provenance.session_ctes() }},

seen as materialized (
    select
        {{ dbt_provenance.seen_columns('evidence') }},
        {{ dbt_provenance.names_hidden('evidence') }} as is_redacted,
        cast(null as date) as formula_from, cast(null as date) as formula_to
    from {{ dbt_provenance.relation('prov_int_evidence') }} as evidence
    cross join asker
    where evidence.recorded_from_utc <= asker.given_known_at
      and {{ dbt_provenance.may_see('evidence') }}
),

{{ dbt_provenance.standing_ctes() }},

picked as (
    select seen.*, standing.doc_id is not null as is_standing, standing.holds_from, standing.holds_to, standing.superseding_evidence_id
    from seen
    left join standing on standing.doc_id = seen.doc_id
),

{{ dbt_provenance.shown_ctes() }}

select
    evidence_id,
    revision,
    entity_id,
    entity_type,
    evidence_type,
    version_label as version,
    status,
    may_govern,
    is_standing,
    holds_from as valid_from,
    holds_to as valid_to,
    validity_basis,
    title,
    definition_text,
    text_origin <> 'authored' as text_derived,
    text_origin,
    content_hash,
    is_redacted as redacted,
    source_uri,
    original_file_path,
    owner_label as owner_name,
    classification_text as classification,
    superseding_evidence_id as superseded_by,
    project_name,
    tenant_id as tenant,
    recorded_from_utc,
    case when recorded_to_utc <= given_known_at then recorded_to_utc end as recorded_to_utc,
    true as text_untrusted
from shown
