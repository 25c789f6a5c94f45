{{ config(alias='resolve') }}
with {{ dbt_provenance.resolve_ctes() }},

picked as (
    select standing.*
    from verdict
    inner join standing on standing.doc_id = verdict.latest_doc_id and verdict.decision.outcome = 'resolved'
),

{{ dbt_provenance.shown_ctes() }},

-- what else is said on or about the entity
contrary as (
    select standing.doc_id
    from standing
    cross join picked
    cross join asked
    where standing.entity_id = picked.entity_id and standing.evidence_type = picked.evidence_type and standing.doc_id <> picked.doc_id
      and (
          standing.status = 'draft'
          or (standing.formula is not null and picked.formula is not null and standing.fingerprint <> picked.fingerprint
              and standing.evidence_id <> picked.evidence_id
              and case when asked.given_date is not null then {{ dbt_provenance.holds_on('standing', 'asked.given_date') }}
                  else coalesce(standing.holds_from < picked.holds_to, true) and coalesce(picked.holds_from < standing.holds_to, true) end)
      )
    union
    select pages.doc_id
    from ({{ dbt_provenance.pages_about('picked') }}) as pages
    cross join asked
    where pages.status = 'draft' or (pages.status = 'superseded' and ({{ dbt_provenance.holds_on('pages', 'asked.given_date') }} or asked.given_date is null))
),

next_start as (
    select min(standing.holds_from) as scheduled_from
    from standing
    cross join picked
    cross join asked
    where standing.entity_id = picked.entity_id and standing.evidence_type = picked.evidence_type and standing.doc_id <> picked.doc_id
      and standing.may_govern and not standing.holds_when_asked_only and standing.holds_from > asked.given_date
)

select
    verdict.decision.outcome as outcome,
    verdict.decision.reason as reason,
    verdict.decision.missing as missing,
    case when verdict.decision.outcome <> 'not_found_or_not_authorized' and verdict.entities = 1 then (select max(entity_id) from named) end as entity_id,
    case when verdict.decision.outcome <> 'not_found_or_not_authorized' and verdict.entities = 1 then (select max(entity_type) from weighed) end as entity_type,
    shown.evidence_id,
    shown.revision,
    shown.evidence_type,
    shown.version_label as version,
    case when shown.deprecation_date <= verdict.given_date and shown.status_rank < 4 then 'deprecated' else shown.status end as status,
    shown.holds_from as valid_from,
    shown.holds_to as valid_to,
    shown.validity_basis,
    shown.title,
    shown.definition_text,
    shown.text_origin <> 'authored' as text_derived,
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
    (select scheduled_from from next_start) as scheduled_from,
    case when verdict.decision.outcome = 'resolved' then (select count(*) from contrary) end as conflict_count,
    case when verdict.decision.outcome <> 'not_found_or_not_authorized' then {{ dbt_provenance.index_state() }} end as index_state,
    case when verdict.decision.outcome <> 'not_found_or_not_authorized' then {{ dbt_provenance.literal(target.name) }} end as target_name
from verdict
left join shown on true
