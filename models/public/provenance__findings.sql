{{ config(alias='findings') }}
-- one row per thing that is wrong with the metadata itself, where the asker may see all sides; the service role sees what closed a resource
with {{ dbt_provenance.session_ctes() }}

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
where findings.tenant_id = asker.tenant_id
  and {{ dbt_provenance.is_not_struck('findings.entity_id', 'findings.evidence_id') }}
  and (
      asker.is_service
      or (
          findings.policy_id in (select policy_id from visible_policies)
          and coalesce(findings.other_policy_id in (select policy_id from visible_policies), findings.other_id is null)
      )
  )
