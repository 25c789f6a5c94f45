{{ config(alias='runs') }}
-- one row per dbt invocation, for whoever is known; counts are over the results that the asker may see
with {{ dbt_provenance.session_ctes() }},

{{ dbt_provenance.visible_resource_ctes() }},

counts as (
    select
        results.invocation_id,
        count(*) as visible_results,
        count(*) filter (where results.run_status in ('error', 'fail', 'runtime error')) as visible_failures
    from {{ dbt_provenance.relation('prov_raw_run_results') }} as results
    inner join visible_resources on visible_resources.project_name = results.project_name and visible_resources.unique_id = results.unique_id
        and coalesce(results.recorded_at_utc >= visible_resources.visible_from_utc, visible_resources.visible_from_utc = timestamp '0001-01-01')
    where coalesce(results.recorded_at_utc <= (select given_known_at from given), true)
    group by results.invocation_id
)

select
    runs.invocation_id,
    runs.project_name,
    runs.target_name,
    runs.command as dbt_command,
    runs.dbt_version,
    runs.adapter_type,
    runs.started_at_utc,
    runs.finished_at_utc,
    runs.full_refresh as is_full_refresh,
    runs.is_empty,
    coalesce(counts.visible_results, 0) as visible_results,
    coalesce(counts.visible_failures, 0) as visible_failures
from {{ dbt_provenance.relation('prov_raw_runs') }} as runs
left join counts on counts.invocation_id = runs.invocation_id
cross join asker
where asker.is_known
  and coalesce(runs.recorded_at_utc <= asker.given_known_at, true)
  and (counts.invocation_id is not null or asker.is_service)
