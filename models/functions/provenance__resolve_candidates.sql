{{ config(alias='resolve_candidates') }}
with {{ dbt_provenance.resolve_ctes() }},

candidates as (
    select
        standing.*,
        case
            when verdict.entities > 1 then 'candidate'
            when verdict.decision.outcome = 'conflict' and standing.doc_id in (
                select best.doc_id from best inner join (select max(day) as day from moments where fingerprint_count > 1) as disputed on disputed.day = best.day
            ) then 'conflicting'
            when verdict.decision.outcome = 'resolved' and standing.doc_id = verdict.latest_doc_id then 'governing'
            when not standing.may_govern then 'non_governing'
            when asked.given_date is null or {{ dbt_provenance.holds_on('standing', 'asked.given_date') }} then 'candidate'
            else 'other_period'
        end as candidate_role
    from standing
    cross join verdict
    cross join asked
    inner join named as asked_entities on asked_entities.entity_id = standing.entity_id
    where standing.evidence_type = case standing.entity_type when 'lineage' then 'lineage' when 'freshness' then 'freshness_policy' else 'definition' end
      and verdict.askers = 1
),

-- pages that say they are about the entity
subject as (
    select entity_id, any_value(entity_type) as entity_type, any_value(entity_name) as entity_name
    from standing
    where entity_id in (select entity_id from named) and (select count(*) from named) = 1
    group by entity_id
),

about as (
    select pages.*, case when pages.status in ('draft', 'superseded') then 'conflicting' else 'supporting' end as candidate_role
    from ({{ dbt_provenance.pages_about('subject') }}) as pages
),

picked as (
    select * from candidates
    union all by name
    select * from about
),

{{ dbt_provenance.shown_ctes() }}

select
    shown.candidate_role,
    shown.fingerprint as candidate_group,
    shown.entity_id,
    shown.entity_type,
    shown.evidence_id,
    shown.revision,
    shown.evidence_type,
    shown.version_label as version,
    shown.status,
    shown.holds_from as valid_from,
    shown.holds_to as valid_to,
    case when asked.given_date is null then null when {{ dbt_provenance.holds_on('shown', 'asked.given_date') }} then true else false end as holds_on_date,
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
cross join asked
order by shown.entity_id, shown.candidate_role, shown.holds_from desc, shown.evidence_id
