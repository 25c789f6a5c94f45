{{ config(alias='conflicts') }}
-- one row per pair of visible statements that say different things of one entity, or the same thing under two names; both sides are visible
with {{ dbt_provenance.session_ctes() }},

{{ dbt_provenance.seen_statements(evidence_type='definition') }},

{{ dbt_provenance.standing_ctes() }},

picked as (
    select * from standing where interval_is_sound and coalesce(holds_from < holds_to, true) and not holds_when_asked_only
),

{{ dbt_provenance.shown_ctes() }},

sides as (
    select doc_id, entity_id, evidence_id, status, formula, filter_text, fingerprint, holds_from, holds_to, may_govern, source_kind, status_rank * 100 + kind_rank as side_rank
    from shown
),

-- what is compared: statements on one entity, and equal formulas under two names
compared as (
    select one_side, other_side
    from sides as one_side
    inner join sides as other_side on other_side.entity_id = one_side.entity_id
    where one_side.may_govern
      and (
          other_side.status = 'draft'
          or (
              other_side.may_govern and one_side.fingerprint <> other_side.fingerprint and one_side.formula is not null and other_side.formula is not null
              and (one_side.side_rank, one_side.evidence_id) < (other_side.side_rank, other_side.evidence_id)
          )
      )
    union all
    select one_side, other_side
    from sides as one_side
    inner join sides as other_side on other_side.fingerprint = one_side.fingerprint and one_side.entity_id < other_side.entity_id
    where one_side.formula is not null and one_side.may_govern and other_side.may_govern
),

pairs as (
    select
        case
            when other_side.status = 'draft' then 'draft'
            when one_side.entity_id <> other_side.entity_id then 'duplicate'
            when other_side.source_kind = 'page' then 'page'
            else 'governing'
        end as conflict_kind,
        one_side.entity_id, one_side.evidence_id, one_side.status, one_side.formula, one_side.filter_text,
        other_side.entity_id as other_entity_id, other_side.evidence_id as other_evidence_id, other_side.status as other_status, other_side.formula as other_formula,
        other_side.filter_text as other_filter_text,
        greatest(one_side.holds_from, other_side.holds_from) as overlaps_from,
        least(one_side.holds_to, other_side.holds_to) as overlaps_to,
        case
            when other_side.status = 'draft' then 'a draft decides nothing'
            when one_side.entity_id <> other_side.entity_id then 'nothing: two names for one formula'
            when one_side.side_rank < other_side.side_rank then 'the first side ranks higher'
            else 'nothing: a person must decide'
        end as decided_by
    from compared
    where one_side.evidence_id <> other_side.evidence_id
      and coalesce(one_side.holds_from < other_side.holds_to, true) and coalesce(other_side.holds_from < one_side.holds_to, true)
)

select
    conflict_kind,
    entity_id,
    evidence_id,
    status,
    formula,
    filter_text,
    other_entity_id,
    other_evidence_id,
    other_status,
    other_formula,
    other_filter_text,
    overlaps_from,
    overlaps_to,
    decided_by
from pairs
