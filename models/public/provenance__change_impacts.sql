{{ config(alias='change_impacts') }}
-- one row per change of a definition and entity that is built on it today, dashboards included
with {{ dbt_provenance.session_ctes() }},

{{ dbt_provenance.change_ctes() }},

{{ dbt_provenance.touched_ctes() }}

select distinct
    changes.change_kind,
    changes.evidence_id,
    changes.revision,
    changes.entity_id,
    changes.changed_at_utc,
    changes.is_breaking,
    touched.touched_entity_id as downstream_entity_id,
    touched.touched_type as downstream_type,
    touched.distance as shortest_distance
from changes
inner join touched on touched.project_name = changes.project_name and touched.start_id = changes.unique_id
