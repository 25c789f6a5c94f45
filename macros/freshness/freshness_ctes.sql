{#- The CTE `freshness_states`: one row per source that the asker may see, with what is expected of it, what was last measured, and the state
    that follows, as known at the time of knowing. Reads `asker` and `visible_resources`. Expectation and measurement stay apart: the first is
    what dbt applies, the second is judged by it, and never better than dbt itself judged it.

        seconds            how long the policy lets pass: for warn_after, for error_after
        shortest           the shorter of the two: as long as it, a measurement says something of today
-#}
{% macro freshness_ctes() -%}
expected as (
    select
        subjects.project_name, subjects.unique_id, subjects.entity_id, subjects.original_file_path, visible_resources.visible_from_utc,
        {%- for level in ['warn', 'error'] %}
        try_cast(json_extract_string(subjects.document, '$.freshness.{{ level }}_after.count') as integer) as {{ level }}_after_count,
        json_extract_string(subjects.document, '$.freshness.{{ level }}_after.period') as {{ level }}_after_period,
        {%- endfor %}
        json_extract_string(subjects.document, '$.loaded_at_query') as loaded_at_query,
        json_extract_string(subjects.document, '$.loaded_at_field') as loaded_at_field
    from {{ dbt_provenance.relation('prov_int_subjects') }} as subjects
    inner join visible_resources on visible_resources.project_name = subjects.project_name and visible_resources.unique_id = subjects.unique_id
    cross join asker
    where subjects.resource_type = 'source'
      and subjects.recorded_from_utc <= asker.given_known_at and coalesce(subjects.recorded_to_utc > asker.given_known_at, true)
),

limited as (
    select
        *,
        {%- for level in ['warn', 'error'] %}
        cast({{ level }}_after_count as bigint) * case {{ level }}_after_period when 'minute' then 60 when 'hour' then 3600 when 'day' then 86400 end as {{ level }}_seconds,
        {%- endfor %}
        least(warn_seconds, error_seconds) as shortest_seconds
    from expected
),

-- what was measured before a gap is hidden with it; a run with --empty read no data
observed as (
    select
        observations.*,
        row_number() over (
            partition by observations.project_name, observations.unique_id
            order by coalesce(observations.snapshotted_at_utc, observations.recorded_at_utc) desc, observations.recorded_at_utc desc, observations.invocation_id
        ) as recency
    from {{ dbt_provenance.relation('prov_raw_freshness') }} as observations
    inner join limited on limited.project_name = observations.project_name and limited.unique_id = observations.unique_id
    where observations.target_name = {{ dbt_provenance.literal(target.name) }}
      and (limited.visible_from_utc = timestamp '0001-01-01'
          or least(coalesce(observations.snapshotted_at_utc, observations.recorded_at_utc), observations.recorded_at_utc) >= limited.visible_from_utc)
      and coalesce(observations.recorded_at_utc <= (select asker.given_known_at from asker), true)
      and not exists (
          select 1 from {{ dbt_provenance.relation('prov_raw_runs') }} as runs
          where runs.is_empty and runs.invocation_id = observations.invocation_id
      )
),

clocked as (
    select project_name, unique_id, count(*) = 3 as is_clock
    from observed
    where recency <= 3 and max_loaded_at_utc = snapshotted_at_utc
    group by project_name, unique_id
),

measured as (
    select
        limited.*,
        latest.unique_id is not null as is_observed, lower(latest.observed_status) as observed_status, latest.max_loaded_at_utc, latest.snapshotted_at_utc,
        {{ dbt_provenance.seconds_between('latest.max_loaded_at_utc', 'latest.snapshotted_at_utc') }} as age_seconds,
        latest.observation_method, latest.error_text, coalesce(clocked.is_clock, false) as is_clock,
        {{ dbt_provenance.seconds_between('coalesce(latest.snapshotted_at_utc, latest.recorded_at_utc)', 'asker.given_known_at') }} as observed_seconds_ago
    from limited
    cross join asker
    left join observed as latest on latest.project_name = limited.project_name and latest.unique_id = limited.unique_id and latest.recency = 1
    left join clocked on clocked.project_name = limited.project_name and clocked.unique_id = limited.unique_id
),

freshness_states as (
    select measured.*, meanings.*, measured.observed_seconds_ago <= measured.shortest_seconds and meanings.is_measured as is_verified
    from (select *, {{ dbt_provenance.freshness_state('measured') }} as freshness_state from measured) as measured
    inner join ({{ dbt_provenance.freshness_meanings() }}) as meanings on meanings.said_state = measured.freshness_state
)
{%- endmacro %}
