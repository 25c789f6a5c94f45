{{ config(alias='definition_changes') }}
-- one row per change of a definition: what it said before and says since, whether that breaks, and how many entities are built on it
with {{ dbt_provenance.session_ctes() }},

{{ dbt_provenance.change_ctes() }},

{{ dbt_provenance.touched_ctes() }},

counts as (
    select project_name, start_id, count(*) filter (where distance = 1) as direct_count, count(*) as total_count
    from touched
    group by project_name, start_id
)

select
    changes.change_kind,
    changes.evidence_id,
    changes.revision,
    changes.previous_evidence_id,
    changes.previous_revision,
    changes.entity_id,
    changes.entity_type,
    changes.version_label as version,
    changes.changed_at_utc,
    {%- for flag in ['text', 'formula', 'filter', 'grain', 'unit', 'backing', 'status', 'validity', 'acl', 'other'] %}
    changes.{{ flag }}_changed,
    {%- endfor %}
    changes.is_breaking,
    changes.previous_definition_text as previous_text,
    case when changes.change_kind <> 'gone' then changes.definition_text end as current_text,
    {%- for column, name in {'formula': 'formula', 'filter_text': 'filter', 'grain': 'grain', 'status': 'status', 'declared_from': 'valid_from', 'declared_to': 'valid_to'}.items() %}
    changes.previous_{{ column }} as previous_{{ name }},
    case when changes.change_kind <> 'gone' then changes.{{ column }} end as current_{{ name }},
    {%- endfor %}
    changes.is_redacted or changes.previous_is_redacted as redacted,
    coalesce(counts.direct_count, 0) as direct_downstream_count,
    coalesce(counts.total_count, 0) as total_downstream_count
from changes
left join counts on counts.project_name = changes.project_name and counts.start_id = changes.unique_id
