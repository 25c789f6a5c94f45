-- one row per revision of a metric and period in which its formula was known to be the same, and whether the model it rests on may be named
with evidence as (
    select doc_id, project_name, unique_id, recorded_date, recorded_from_utc, recorded_to_utc
    from {{ dbt_provenance.relation('prov_int_evidence') }}
    where evidence_type = 'definition' and resource_type = 'metric'
),

within as (
    select
        evidence.doc_id, evidence.recorded_date, formulas.formula, formulas.filter_text, formulas.model_ids, formulas.project_name,
        greatest(formulas.known_from_utc, evidence.recorded_from_utc) as known_from_utc,
        -- the last period of a revision ends with it
        case when coalesce(formulas.known_to_utc < evidence.recorded_to_utc, true) then formulas.known_to_utc end as known_to_utc
    from evidence
    inner join {{ dbt_provenance.relation('prov_int_formulas') }} as formulas
        on formulas.project_name = evidence.project_name and formulas.unique_id = evidence.unique_id
        and coalesce(formulas.known_from_utc < evidence.recorded_to_utc, true)
        and coalesce(formulas.known_to_utc > evidence.recorded_from_utc, true)
)

select
    within.doc_id,
    within.known_from_utc,
    within.known_to_utc,
    -- the last formula of the day on which the revision was recorded holds as the revision does
    case when cast(within.known_from_utc as date) > within.recorded_date then cast(within.known_from_utc as date) end as formula_from,
    coalesce(cast(within.known_to_utc as date) = cast(within.known_from_utc as date), false) as is_of_one_day,
    within.formula,
    within.filter_text,
    concat_ws(chr(31), regexp_replace(lower(within.formula), '\s', '', 'g'), regexp_replace(lower(coalesce(within.filter_text, '')), '\s', '', 'g')) as formula_key,
    nodes.entity_id as backing_entity_id,
    nodes.version_label as backing_version_label,
    nodes.source_uri as backing_source_uri,
    nodes.policy_id as backing_policy_id,
    nodes.evidence_id as backing_evidence_id
from within
left join {{ dbt_provenance.relation('prov_int_nodes') }} as nodes
    on len(within.model_ids) = 1 and nodes.project_name = within.project_name and nodes.unique_id = within.model_ids[1]
order by within.doc_id
