{{ config(alias='definition_changes') }}
-- one row per change of a definition, of its own text or of a formula through what it names, with what changed
with {{ dbt_provenance.session_ctes() }},

{{ dbt_provenance.seen_statements(evidence_type='definition', all_periods=true) }},

picked as (
    select *, cast(null as date) as holds_from from seen
),

{{ dbt_provenance.shown_ctes() }},

changes as (
    select
        *,
        greatest(recorded_from_utc, formula_known_from_utc) as changed_at_utc,
        {%- for column in ['revision', 'definition_text', 'formula', 'grain', 'filter_text', 'status', 'declared_from', 'declared_to'] %}
        lag({{ column }}) over history as previous_{{ column }}{{ ',' if not loop.last }}
        {%- endfor %}
    from shown
    window history as (partition by evidence_id order by raw_id, formula_known_from_utc)
)

select
    evidence_id,
    revision,
    previous_revision,
    entity_id,
    entity_type,
    version_label as version,
    changed_at_utc,
    definition_text is distinct from previous_definition_text as text_changed,
    formula is distinct from previous_formula as formula_changed,
    grain is distinct from previous_grain as grain_changed,
    filter_text is distinct from previous_filter_text as filter_changed,
    status is distinct from previous_status as status_changed,
    declared_from is distinct from previous_declared_from or declared_to is distinct from previous_declared_to as validity_changed,
    formula is distinct from previous_formula or grain is distinct from previous_grain or filter_text is distinct from previous_filter_text as is_breaking,
    previous_definition_text as previous_text,
    definition_text as current_text,
    previous_formula,
    formula as current_formula
from changes
where previous_revision is not null
