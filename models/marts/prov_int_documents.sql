-- one row per searchable revision: its length, and what decides who sees it and in which lane; sorted by policy
with lengths as (
    select doc_id, sum(frequency) filter (where part_policy_id is null) as bag_length, count(part_policy_id) > 0 as has_guarded_parts
    from {{ dbt_provenance.relation('prov_int_postings') }}
    group by doc_id
),

superseding as (
    select distinct entity_id, evidence_type, {{ dbt_provenance.plain_version('supersedes_label') }} as superseded_label
    from {{ dbt_provenance.relation('prov_int_evidence') }}
    where supersedes_label is not null
)

select
    evidence.doc_id,
    evidence.policy_id,
    coalesce(lengths.bag_length, 0) as bag_length,
    coalesce(lengths.has_guarded_parts, false) as has_guarded_parts,
    -- whether its interval depends on other rows of the entity
    superseding.superseded_label is not null
        or bool_or(evidence.validity_basis = 'dbt') over (partition by evidence.entity_id, evidence.evidence_type, evidence.project_name) as is_contextual,
    evidence.evidence_id,
    evidence.ledger_keys,
    evidence.entity_id,
    evidence.entity_type,
    evidence.evidence_type,
    evidence.source_kind,
    evidence.status,
    evidence.validity_basis,
    evidence.interval_is_sound,
    evidence.declared_from,
    evidence.declared_to,
    evidence.recorded_date,
    evidence.starts_when_recorded,
    evidence.before_gap_policy_id,
    evidence.recorded_from_utc,
    evidence.next_recorded_from_utc,
    evidence.chain_until_utc,
    evidence.gone_from_utc
from {{ dbt_provenance.relation('prov_int_evidence') }} as evidence
left join lengths on lengths.doc_id = evidence.doc_id
left join superseding
    on superseding.entity_id = evidence.entity_id and superseding.evidence_type = evidence.evidence_type
    and superseding.superseded_label = {{ dbt_provenance.plain_version('evidence.version_label') }}
where evidence.policy_id is not null
order by evidence.policy_id, evidence.doc_id
