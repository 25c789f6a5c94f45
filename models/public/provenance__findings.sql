{{ config(alias='findings') }}
-- one row per thing that is wrong with the metadata itself, where the asker may see all sides; the service role sees what closed a resource
with {{ dbt_provenance.session_ctes() }},

{{ dbt_provenance.visible_resource_ctes() }},

{{ dbt_provenance.freshness_ctes() }},

{{ dbt_provenance.measurement_findings_cte() }}

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
select finding_rule, severity, unique_id, entity_id, field_name, found_value, advice, original_file_path, project_name
from measurement_findings
