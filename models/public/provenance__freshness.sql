{{ config(alias='freshness') }}
-- one row per source that the asker may see: what is expected of its data, what was last measured, and whether that may be relied on
with {{ dbt_provenance.session_ctes() }},

{{ dbt_provenance.visible_resource_ctes() }},

policies as (
    select
        subjects.project_name, subjects.unique_id, subjects.entity_id, visible_resources.visible_from_utc,
        try_cast(json_extract_string(subjects.document, '$.freshness.warn_after.count') as integer) as warn_after_count,
        json_extract_string(subjects.document, '$.freshness.warn_after.period') as warn_after_period,
        try_cast(json_extract_string(subjects.document, '$.freshness.error_after.count') as integer) as error_after_count,
        json_extract_string(subjects.document, '$.freshness.error_after.period') as error_after_period,
        coalesce(json_extract_string(subjects.document, '$.loaded_at_query'), json_extract_string(subjects.document, '$.loaded_at_field')) as loaded_at_expression
    from {{ dbt_provenance.relation('prov_int_subjects') }} as subjects
    inner join visible_resources on visible_resources.project_name = subjects.project_name and visible_resources.unique_id = subjects.unique_id
    where subjects.resource_type = 'source' and subjects.recorded_to_utc is null
),

observations as (
    select *
    from {{ dbt_provenance.relation('prov_raw_freshness') }}
    qualify row_number() over (partition by project_name, unique_id order by coalesce(snapshotted_at_utc, recorded_at_utc) desc) = 1
),

timed as (
    select
        policies.*,
        observations.observed_status, observations.max_loaded_at_utc, observations.snapshotted_at_utc, observations.age_seconds, observations.observation_method,
        observations.unique_id is not null as is_observed,
        coalesce(policies.error_after_count, policies.warn_after_count)
            * case coalesce(policies.error_after_period, policies.warn_after_period) when 'minute' then 60 when 'hour' then 3600 when 'day' then 86400 end as limit_seconds,
        date_diff('second', coalesce(observations.snapshotted_at_utc, observations.recorded_at_utc), {{ dbt_provenance.utc_now() }}) as observation_age_seconds
    from policies
    left join observations on observations.project_name = policies.project_name and observations.unique_id = policies.unique_id
        and coalesce(observations.recorded_at_utc >= policies.visible_from_utc, policies.visible_from_utc = timestamp '0001-01-01')
)

select
    entity_id,
    unique_id,
    project_name,
    warn_after_count,
    warn_after_period,
    error_after_count,
    error_after_period,
    loaded_at_expression,
    case
        when not is_observed and limit_seconds is null then 'no policy'
        when not is_observed then 'never observed'
        when lower(observed_status) in ('runtime error', 'error') and max_loaded_at_utc is null and snapshotted_at_utc is null then 'check failed'
        when max_loaded_at_utc is null then 'no data'
        when max_loaded_at_utc > snapshotted_at_utc + interval 5 minute then 'clock error'
        when limit_seconds is null then 'no policy'
        when observation_age_seconds > limit_seconds then 'observation expired'
        when lower(observed_status) in ('pass', 'success') then 'fresh'
        when lower(observed_status) in ('warn') then 'late'
        else 'stale'
    end as freshness_state,
    observed_status,
    max_loaded_at_utc,
    snapshotted_at_utc,
    age_seconds,
    observation_method,
    is_observed and observation_age_seconds <= limit_seconds and max_loaded_at_utc is not null and max_loaded_at_utc <= snapshotted_at_utc + interval 5 minute as is_verified
from timed
