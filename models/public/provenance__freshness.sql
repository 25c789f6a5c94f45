{{ config(alias='freshness') }}
-- one row per source that the asker may see: what is expected of its data, what was last measured, and whether that may be relied on
with {{ dbt_provenance.session_ctes() }},

{{ dbt_provenance.visible_resource_ctes() }},

{{ dbt_provenance.freshness_ctes() }}

select
    entity_id,
    unique_id,
    project_name,
    warn_after_count,
    warn_after_period,
    error_after_count,
    error_after_period,
    coalesce(loaded_at_query, loaded_at_field) as loaded_at_expression,
    case when shortest_seconds is not null then
        case when loaded_at_query is not null then 'loaded_at_query' when loaded_at_field is not null then 'loaded_at_field' else 'metadata' end
    end as expected_method,
    freshness_state,
    state_reason,
    severity_rank,
    observed_status,
    max_loaded_at_utc,
    snapshotted_at_utc,
    age_seconds,
    observation_method,
    coalesce(is_verified, false) as is_verified
from freshness_states
