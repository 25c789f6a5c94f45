{{ config(alias='definition_changes') }}
-- one row per change of a definition: what it said before and says since, whether that breaks, and how many entities are built on it
with {{ dbt_provenance.session_ctes() }},

{{ dbt_provenance.change_ctes() }},

{{ dbt_provenance.closure_ctes('changes') }},

direct as (
    select root_nodes.project_name, root_nodes.unique_id, count(distinct far_nodes.entity_id) as direct_count
    from closure_roots
    inner join visible_edges on visible_edges.near_number = closure_roots.root_number
    inner join numbered_nodes as root_nodes on root_nodes.node_number = closure_roots.root_number
    inner join numbered_nodes as far_nodes on far_nodes.node_number = visible_edges.far_number and far_nodes.entity_id <> root_nodes.entity_id
    group by root_nodes.project_name, root_nodes.unique_id
),

total as (
    select root_project, root_id, count(*) as total_count from closure group by root_project, root_id
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
    coalesce(direct.direct_count, 0) as direct_downstream_count,
    coalesce(total.total_count, 0) as total_downstream_count
from changes
left join direct on direct.project_name = changes.project_name and direct.unique_id = changes.unique_id
left join total on total.root_project = changes.project_name and total.root_id = changes.unique_id
