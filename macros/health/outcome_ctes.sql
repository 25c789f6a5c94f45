{#- What became of each visible resource when it last ran for data, in this target and as known: from `asker` and `visible_resources` the CTE
    `last_results`. A run with --empty read no data; what was skipped says nothing. -#}
{% macro last_results_cte() -%}
last_results as (
    select
        results.project_name, results.unique_id,
        arg_max(results.invocation_id, results.recorded_at_utc) as invocation_id,
        arg_max(coalesce(results.finished_at_utc, results.recorded_at_utc), results.recorded_at_utc) as ran_at_utc,
        arg_max(lower(results.run_status), results.recorded_at_utc) as run_status
    from {{ dbt_provenance.relation('prov_raw_run_results') }} as results
    inner join visible_resources on visible_resources.project_name = results.project_name and visible_resources.unique_id = results.unique_id
        and (visible_resources.visible_from_utc = timestamp '0001-01-01' or results.recorded_at_utc >= visible_resources.visible_from_utc)
    where results.target_name = {{ dbt_provenance.literal(target.name) }}
      and coalesce(results.recorded_at_utc <= (select asker.given_known_at from asker), true)
      and not exists (
          select 1 from {{ dbt_provenance.relation('prov_raw_runs') }} as runs
          where runs.is_empty and runs.invocation_id = results.invocation_id
      )
    group by results.project_name, results.unique_id
)
{%- endmacro %}

{#- Each visible test that is there now beside each resource that it tests, with what it last said: from `last_results` the CTE `test_outcomes`. -#}
{% macro test_outcomes_cte() -%}
test_outcomes as (
    select
        tests.project_name, tests.unique_id as test_id, tests.parent_id,
        case
            when last_results.run_status in ('pass', 'success') then 'passed'
            when last_results.run_status in ('fail', 'warn', 'error', 'runtime error') then 'failed'
            else 'unknown'
        end as test_outcome
    from (
        select project_name, unique_id, unnest(parent_ids) as parent_id
        from {{ dbt_provenance.relation('prov_int_guards') }}
        where part_kind = '' and segment_until_utc is null and parent_ids is not null
    ) as tests
    inner join visible_resources on visible_resources.project_name = tests.project_name and visible_resources.unique_id = tests.unique_id
    left join last_results on last_results.project_name = tests.project_name and last_results.unique_id = tests.unique_id
)
{%- endmacro %}
