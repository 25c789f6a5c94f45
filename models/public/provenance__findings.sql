{{ config(alias='findings') }}
-- one row per thing that is wrong with the metadata itself, where the asker may see all sides; the service role sees what closed a resource
with {{ dbt_provenance.session_ctes() }},

newest_runs as (
    select project_name, unavailable_types
    from {{ dbt_provenance.relation('prov_raw_runs') }}
    where capture_source = 'hook'
    qualify row_number() over (partition by project_name, target_name order by recorded_at_utc desc, started_at_utc desc) = 1
)

select
    findings.finding_rule,
    findings.severity,
    findings.unique_id,
    findings.entity_id,
    findings.field_name,
    findings.found_value,
    findings.advice,
    findings.original_file_path,
    findings.project_name
from {{ dbt_provenance.relation('prov_int_findings') }} as findings
cross join asker
where asker.is_known
  and findings.tenant_id = asker.tenant_id
  and not list_has_any(asker.struck_keys, [findings.entity_id, findings.evidence_id])
  and (
      asker.is_service
      or (
          list_contains(asker.policy_list, findings.policy_id)
          and case when findings.other_id is null then true else coalesce(list_contains(asker.policy_list, findings.other_policy_id), false) end
      )
  )
union all
select
    'unavailable in this engine',
    'warn',
    null,
    null,
    null,
    newest_runs.unavailable_types,
    'run dbt-provenance refresh, which reads these types from manifest.json; what is open of them is kept as it was',
    null,
    newest_runs.project_name
from newest_runs
inner join asker on asker.is_known and asker.is_service and asker.tenant_id = {{ dbt_provenance.literal(var('provenance_default_tenant', 'default')) }}
where newest_runs.unavailable_types is not null
