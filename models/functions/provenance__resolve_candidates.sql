{{ config(alias='resolve_candidates') }}
with {{ dbt_provenance.resolve_ctes() }},

-- the statements on the entities that answer, and, of a single one, the pages that say they are about it
picked as (
    select
        standing.*,
        case
            when standing.about_entity_id is not null then case when standing.status in ('draft', 'superseded') then 'conflicting' else 'supporting' end
            when verdict.entities > 1 then 'candidate'
            when verdict.decision.outcome = 'conflict' and standing.doc_id in (select best.doc_id from best inner join verdict on verdict.disputed_day = best.one_day) then 'conflicting'
            when verdict.decision.outcome = 'resolved' and standing.doc_id = verdict.latest_doc_id and standing.holds_from is not distinct from verdict.latest_from then 'governing'
            when not standing.may_govern then 'non_governing'
            when standing.is_prerelease then 'prerelease'
            when verdict.given_date is null or {{ dbt_provenance.holds_on('standing', 'verdict.given_date') }} then 'candidate'
            else 'other_period'
        end as candidate_role
    from standing
    inner join named on named.entity_id = coalesce(standing.about_entity_id, standing.entity_id)
    cross join verdict
    where case
        when standing.about_entity_id is not null then named.named_count = 1
        else standing.evidence_type = case standing.entity_type when 'lineage' then 'lineage' when 'freshness' then 'freshness_policy' else 'definition' end
    end
),

{{ dbt_provenance.shown_ctes() }}

select
    shown.candidate_role,
    case when not shown.is_redacted then shown.fingerprint end as candidate_group,
    shown.entity_id,
    shown.entity_type,
    shown.evidence_id,
    shown.revision,
    shown.evidence_type,
    shown.version_label as version,
    shown.status,
    shown.holds_from as valid_from,
    shown.holds_to as valid_to,
    case when shown.given_date is null then null when {{ dbt_provenance.holds_on('shown', 'shown.given_date') }} then true else false end as holds_on_date,
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
    shown.owner_label as owner_name,
    shown.source_uri,
    shown.content_hash,
    shown.is_redacted as redacted,
    shown.recorded_from_utc,
    shown.superseding_evidence_id as superseded_by
from shown
order by shown.entity_id, shown.candidate_role, shown.holds_from desc, shown.evidence_id
