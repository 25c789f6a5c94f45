{{ config(alias='coverage') }}
-- one row per folder, dbt group and owner, and type of resource in it: how many of the resources that the asker may see lack something
with {{ dbt_provenance.session_ctes() }},

{{ dbt_provenance.visible_resource_ctes() }},

{{ dbt_provenance.freshness_ctes() }},

{{ dbt_provenance.upstream_ctes() }},

-- what nobody may see because no policy allows anybody is for the service role, and counted apart
closed as (
    select guards.project_name, guards.unique_id
    from {{ dbt_provenance.relation('prov_int_guards') }} as guards
    inner join asker on asker.is_service and asker.tenant_id = guards.tenant_id
    where guards.part_kind = '' and guards.segment_until_utc is null and guards.closed_because = 'no allow'
),

described as (
    select
        evidence.unique_id, evidence.project_name, evidence.resource_type,
        nullif(regexp_extract(replace(evidence.original_file_path, '\', '/'), '^(.*)/', 1), '') as folder,
        json_extract_string(subjects.document, '$.group') as group_name,
        evidence.owner_label as owner,
        evidence.text_origin <> 'authored' as is_undocumented,
        evidence.owner_label is null as is_unowned,
        evidence.declared_status = 'unspecified' as is_without_status
    from {{ dbt_provenance.relation('prov_int_evidence') }} as evidence
    inner join {{ dbt_provenance.relation('prov_int_subjects') }} as subjects
        on subjects.project_name = evidence.project_name and subjects.unique_id = evidence.unique_id and subjects.recorded_to_utc is null
    cross join asker
    where not list_has_any(asker.struck_keys, evidence.ledger_keys)
      and evidence.evidence_type = 'definition' and evidence.recorded_to_utc is null
      and evidence.resource_type not in ('page', 'page_piece', 'doc')
),

judged as (
    select
        described.*,
        upstream_states.unique_id is not null as is_visible,
        closed.unique_id is not null as is_closed,
        case when described.resource_type = 'source' then freshness_states.freshness_state in ('no policy', 'never observed') end as is_without_freshness,
        case when described.resource_type not in ('source', 'seed') then not upstream_states.has_lineage end as is_without_lineage
    from described
    left join upstream_states on upstream_states.project_name = described.project_name and upstream_states.unique_id = described.unique_id
    left join freshness_states on freshness_states.project_name = described.project_name and freshness_states.unique_id = described.unique_id
    left join closed on closed.project_name = described.project_name and closed.unique_id = described.unique_id
    where upstream_states.unique_id is not null or closed.unique_id is not null
),

grouped as (
    {%- for grouping_kind in ['folder', 'group_name', 'owner'] %}
    select '{{ grouping_kind }}' as grouping_kind, {{ grouping_kind }} as grouping_value, * exclude (folder, group_name, owner)
    from judged
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}
)

select
    grouping_kind,
    grouping_value,
    resource_type,
    count(*) filter (where is_visible) as resource_count,
    {%- for lack in ['undocumented', 'unowned', 'without_status'] %}
    count(*) filter (where is_visible and is_{{ lack }}) as {{ lack }}_count,
    {%- endfor %}
    case when asker.is_service then count(*) filter (where is_closed) end as without_policy_count,
    case when resource_type = 'source' then count(*) filter (where is_visible and is_without_freshness) end as without_freshness_count,
    case when resource_type not in ('source', 'seed') then count(*) filter (where is_visible and is_without_lineage) end as without_lineage_count
from grouped
cross join asker
group by grouping_kind, grouping_value, resource_type, asker.is_service
