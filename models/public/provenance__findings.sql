{{ config(alias='findings') }}
-- one row per thing that is wrong with the metadata itself, where the asker may see all sides; the service role sees what closed a resource
with {{ dbt_provenance.session_ctes() }},

{{ dbt_provenance.conflict_ctes() }},

{{ dbt_provenance.retired_ctes() }},

-- what follows from a second statement, or from the date, is found when asked: over what the asker may see, as known then
derived as (
    {{ dbt_provenance.pair_findings() }}
    union all
    select 'depends on deprecated', leaning.project_name, leaning.downstream_id, leaning.downstream_entity_id, 'depends_on', leaning.warning_text,
        coalesce('refer to version ' || leaning.replacing_version, 'refer to what replaces it')
    from leaning
),

{{ dbt_provenance.visible_resource_ctes() }},

{{ dbt_provenance.freshness_ctes() }},

{{ dbt_provenance.measurement_findings_cte() }},

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
select distinct
    derived.finding_rule,
    case when derived.finding_rule in ('overlapping validity', 'two open rows') then 'error' else 'warn' end,
    derived.unique_id,
    derived.entity_id,
    derived.field_name,
    derived.found_value,
    derived.advice,
    evidence.original_file_path,
    derived.project_name
from derived
left join {{ dbt_provenance.relation('prov_int_evidence') }} as evidence
    on evidence.project_name = derived.project_name and evidence.unique_id = derived.unique_id
    and evidence.evidence_type = 'definition' and evidence.recorded_to_utc is null
union all
select finding_rule, severity, unique_id, entity_id, field_name, found_value, advice, original_file_path, project_name
from measurement_findings
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
