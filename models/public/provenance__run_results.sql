{{ config(alias='run_results') }}
-- one row per resource and invocation that ran it, where the asker may see the resource; the warehouse's own words are for the service role
with {{ dbt_provenance.session_ctes() }},

{{ dbt_provenance.visible_resource_ctes() }}

select
    results.invocation_id,
    results.project_name,
    results.unique_id,
    nodes.entity_id,
    results.run_status,
    results.execution_seconds,
    results.failures,
    results.rows_affected,
    results.started_at_utc,
    results.finished_at_utc,
    case when (select is_service from asker) then results.message_text end as message_text
from {{ dbt_provenance.relation('prov_raw_run_results') }} as results
inner join visible_resources on visible_resources.project_name = results.project_name and visible_resources.unique_id = results.unique_id
    and coalesce(results.recorded_at_utc >= visible_resources.visible_from_utc, visible_resources.visible_from_utc = timestamp '0001-01-01')
left join {{ dbt_provenance.relation('prov_int_nodes') }} as nodes on nodes.project_name = results.project_name and nodes.unique_id = results.unique_id
where coalesce(results.recorded_at_utc <= (select given_known_at from given), true)
