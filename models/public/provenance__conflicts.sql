{{ config(alias='conflicts') }}
-- one row per pair of visible statements that contradict or repeat each other, with what decides; both sides are visible
with {{ dbt_provenance.session_ctes() }},

{{ dbt_provenance.conflict_ctes() }}

select
    conflict_kind,
    {%- for side, prefix in [('one_side', ''), ('other_side', 'other_')] %}
    {%- for column, name in {'entity_id': 'entity_id', 'evidence_id': 'evidence_id', 'status': 'status', 'definition_text': 'definition_text', 'formula': 'formula', 'filter_text': 'filter_text'}.items() %}
    {{ side }}.{{ column }} as {{ prefix }}{{ name }},
    {%- endfor %}
    {%- endfor %}
    overlaps_from,
    overlaps_to,
    is_newest as is_current,
    decided_by
from pairs
