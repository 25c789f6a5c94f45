{{ config(alias='findings') }}
-- one row per thing that is wrong with the metadata itself, where the asker may see all sides; the service role sees what closed a resource
with {{ dbt_provenance.session_ctes() }},

{{ dbt_provenance.retiring_ctes() }}

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
-- of today, or of the time of knowing: it becomes true as dates pass
select distinct
    'depends on deprecated',
    'warn',
    leaning.downstream_id,
    leaning.downstream_entity_id,
    'depends_on',
    leaning.warning_text,
    coalesce('refer to version ' || leaning.replacing_version, 'refer to what replaces it'),
    resources.original_file_path,
    leaning.project_name
from leaning
left join {{ dbt_provenance.relation('prov_int_evidence') }} as resources
    on resources.project_name = leaning.project_name and resources.unique_id = leaning.downstream_id
    and resources.evidence_type = 'definition' and resources.recorded_to_utc is null
