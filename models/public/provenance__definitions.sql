{{ config(alias='definitions') }}
-- one row per definition that stands, with what a metric engine would compute
with {{ dbt_provenance.session_ctes() }},

{{ dbt_provenance.seen_statements(evidence_type='definition') }},

{{ dbt_provenance.standing_ctes() }},

picked as (
    select * from standing
),

{{ dbt_provenance.shown_ctes() }},

{{ dbt_provenance.retired_ctes() }},

warnings as (
    select project_name, downstream_id, string_agg(distinct warning_text, '; ' order by warning_text) as dependency_warning
    from leaning
    group by project_name, downstream_id
)

select
    evidence_id,
    revision,
    entity_id,
    entity_type,
    version_label as version,
    status,
    may_govern,
    holds_from as valid_from,
    holds_to as valid_to,
    validity_basis,
    holds_when_asked_only as only_when_asked,
    is_prerelease,
    title,
    definition_text,
    text_origin <> 'authored' as text_derived,
    text_origin,
    formula,
    filter_text,
    grain,
    unit,
    backing_entity_id as backing_model,
    backing_version_label as backing_model_version,
    owner_label as owner_name,
    source_uri,
    content_hash,
    is_redacted as redacted,
    superseding_evidence_id as superseded_by,
    shown.deprecation_date,
    warnings.dependency_warning,
    shown.project_name,
    tenant_id as tenant,
    recorded_from_utc
from shown
left join warnings
    on warnings.project_name = shown.project_name and warnings.downstream_id = shown.unique_id and coalesce(shown.next_recorded_from_utc > shown.given_known_at, true)
