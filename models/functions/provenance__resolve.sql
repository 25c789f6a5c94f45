{{ config(alias='resolve') }}
with {{ dbt_provenance.resolve_ctes() }},

picked as materialized (
    select weighed.*
    from verdict
    inner join weighed
        on weighed.doc_id = verdict.latest_doc_id and weighed.holds_from is not distinct from verdict.latest_from and verdict.decision.outcome = 'resolved'
),

{{ dbt_provenance.shown_ctes() }},

-- what else is said on the entity or about it, and when the next on it begins
beside as (
    select
        len(list_distinct(list(standing.doc_id) filter (
            where standing.status = 'draft'
            or case
                when standing.about_entity_id is not null then standing.status = 'superseded' and (asker.given_date is null or {{ dbt_provenance.holds_on('standing', 'asker.given_date') }})
                when standing.formula is not null and picked.formula is not null and standing.fingerprint <> picked.fingerprint and standing.evidence_id <> picked.evidence_id
                    then case when asker.given_date is not null then {{ dbt_provenance.holds_on('standing', 'asker.given_date') }}
                        else coalesce(standing.holds_from < picked.holds_to, true) and coalesce(picked.holds_from < standing.holds_to, true) end
            end
        ))) as contrary_count,
        min(standing.holds_from) filter (
            where standing.about_entity_id is null and standing.may_govern and not standing.holds_when_asked_only and standing.holds_from > asker.given_date
        ) as scheduled_from
    from standing
    inner join picked
        on coalesce(standing.about_entity_id, standing.entity_id) = picked.entity_id
        and (standing.about_entity_id is not null or standing.evidence_type = picked.evidence_type)
        and standing.doc_id <> picked.doc_id
    cross join asker
)

select
    verdict.decision.outcome as outcome,
    verdict.decision.reason as reason,
    verdict.decision.missing as missing,
    case when verdict.decision.outcome <> 'not_found_or_not_authorized' then verdict.only_entity_id end as entity_id,
    case when verdict.decision.outcome <> 'not_found_or_not_authorized' then verdict.only_entity_type end as entity_type,
    shown.evidence_id,
    shown.revision,
    shown.evidence_type,
    shown.version_label as version,
    case when shown.deprecation_date <= verdict.given_date and shown.status_rank < 4 then 'deprecated' else shown.status end as status,
    shown.holds_from as valid_from,
    shown.holds_to as valid_to,
    shown.validity_basis,
    shown.is_prerelease,
    shown.title,
    shown.definition_text,
    shown.text_origin <> 'authored' as text_derived,
    shown.text_origin,
    shown.formula,
    shown.grain,
    shown.unit,
    shown.filter_text,
    case when shown.evidence_type = 'definition' then shown.backing_entity_id end as backing_model,
    case when shown.evidence_type = 'definition' then shown.backing_version_label end as backing_model_version,
    case when shown.evidence_type = 'definition' then shown.backing_source_uri end as backing_model_source,
    shown.source_uri,
    shown.content_hash,
    shown.is_redacted as redacted,
    shown.recorded_from_utc,
    shown.superseding_evidence_id as superseded_by,
    beside.scheduled_from,
    case when verdict.decision.outcome = 'resolved' then coalesce(beside.contrary_count, 0) end as conflict_count,
    case when verdict.decision.outcome <> 'not_found_or_not_authorized' then {{ dbt_provenance.index_state() }} end as index_state,
    case when verdict.decision.outcome <> 'not_found_or_not_authorized' then {{ dbt_provenance.literal(target.name) }} end as target_name
from verdict
cross join beside
left join shown on true
