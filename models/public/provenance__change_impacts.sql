{{ config(alias='change_impacts') }}
-- one row per change of a definition and entity that is built on it today, dashboards included
with {{ dbt_provenance.session_ctes() }},

{{ dbt_provenance.change_ctes() }},

{{ dbt_provenance.closure_ctes('changes', with_depth=true) }}

select distinct
    changes.change_kind,
    changes.evidence_id,
    changes.revision,
    changes.entity_id,
    changes.changed_at_utc,
    changes.is_breaking,
    closure.far_entity_id as downstream_entity_id,
    closure.far_type as downstream_type,
    closure.closure_depth as depth
from changes
inner join closure on closure.root_project = changes.project_name and closure.root_id = changes.unique_id
