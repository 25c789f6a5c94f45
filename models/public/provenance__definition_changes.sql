{{ config(alias='definition_changes') }}
-- one row per revision of a definition that replaced an earlier one, with what changed
with {{ dbt_provenance.session_ctes() }},

seen as (
    select evidence.*
    from {{ dbt_provenance.relation('prov_int_evidence') }} as evidence
    where evidence.evidence_type = 'definition' and {{ dbt_provenance.may_see('evidence') }}
),

picked as (
    select
        *,
        cast(null as date) as holds_from,
        lag(doc_id) over (partition by evidence_id order by revision) as previous_doc_id
    from seen
),

{{ dbt_provenance.shown_ctes() }},

pairs as (
    select after_change.*, before_change.revision as previous_revision, before_change.definition_text as previous_text, before_change.formula as previous_formula,
        before_change.grain as previous_grain, before_change.filter_text as previous_filter, before_change.status as previous_status,
        before_change.declared_from as previous_from, before_change.declared_to as previous_to
    from shown as after_change
    inner join shown as before_change on before_change.doc_id = after_change.previous_doc_id
)

select
    evidence_id,
    revision,
    previous_revision,
    entity_id,
    entity_type,
    version_label as version,
    recorded_from_utc as changed_at_utc,
    definition_text is distinct from previous_text as text_changed,
    formula is distinct from previous_formula as formula_changed,
    grain is distinct from previous_grain as grain_changed,
    filter_text is distinct from previous_filter as filter_changed,
    status is distinct from previous_status as status_changed,
    declared_from is distinct from previous_from or declared_to is distinct from previous_to as validity_changed,
    formula is distinct from previous_formula or grain is distinct from previous_grain or filter_text is distinct from previous_filter as is_breaking,
    previous_text,
    definition_text as current_text,
    previous_formula,
    formula as current_formula
from pairs
