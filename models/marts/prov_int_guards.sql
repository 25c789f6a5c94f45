{%- set default_tenant = dbt_provenance.literal(var('provenance_default_tenant', 'default')) -%}
-- one row per resource, segment between gaps, and part: the policy that guards it (null: nobody passes, and why)
with anchors as (
    select raw_id, project_name, unique_id, segment, resource_type, recorded_to_utc as until_utc, json_extract_string(document, '$.page') as page_id,
        min(recorded_from_utc) over (partition by project_name, unique_id, segment) as segment_from_utc,
        case when resource_type in ('test', 'unit_test') then
            case when json_extract_string(document, '$.attached_node') is not null then [json_extract_string(document, '$.attached_node')]
                else cast(json_extract_string(document, '$.depends_on[*]') as varchar[]) end
        end as parent_ids
    from {{ dbt_provenance.relation('prov_stg_resources') }}
    where not is_own_package
    qualify is_last_of_segment
),

-- a piece of a page is guarded by the page, as it was when the piece was last seen and ever since
page_states as (
    select pieces.raw_id, pages.raw_id as page_raw_id, pages.segment as page_segment
    from anchors as pieces
    left join anchors as pages
        on pages.resource_type = 'page' and pages.project_name = pieces.project_name and pages.unique_id = pieces.page_id
    where pieces.resource_type = 'page_piece'
    qualify coalesce(pages.segment >= max(pages.segment) filter (where coalesce(pages.segment_from_utc < pieces.until_utc, true)) over (partition by pieces.raw_id), true)
),

-- the states that must pass, each with what it rests on: a piece does so together with its page, and its page alone
rests as (
    select project_name, unique_id, segment, -1 as state_number, raw_id as layer_raw_id, false as is_orphan
    from anchors
    where resource_type <> 'page_piece'
    union all
    select anchors.project_name, anchors.unique_id, anchors.segment, coalesce(2 * page_states.page_segment, -1), unnest([anchors.raw_id, page_states.page_raw_id]), page_states.page_raw_id is null
    from anchors
    inner join page_states on page_states.raw_id = anchors.raw_id
    union all
    select anchors.project_name, anchors.unique_id, anchors.segment, 2 * page_states.page_segment + 1, page_states.page_raw_id, false
    from anchors
    inner join page_states on page_states.raw_id = anchors.raw_id and page_states.page_raw_id is not null
),

layers as (
    select * from {{ dbt_provenance.relation('prov_int_layers') }}
),

-- a part has a policy of its own when it, as it was or as it came to be, declares one
parts as (
    select distinct anchors.project_name, anchors.unique_id, anchors.segment, -1 as state_number, layers.part_kind, layers.part_name
    from anchors
    inner join anchors as later
        on later.project_name = anchors.project_name and later.unique_id = anchors.unique_id and later.segment >= anchors.segment
    inner join layers on layers.raw_id = later.raw_id and layers.part_kind <> ''
    union all
    select distinct project_name, unique_id, segment, state_number, '', ''
    from rests
),

-- what each single state asks for
anchor_states as (
    select
        parts.project_name, parts.unique_id, parts.segment, parts.state_number, parts.part_kind, parts.part_name,
        list(distinct {'allow': layers.allow_groups, 'deny': layers.deny_groups}) filter (where layers.raw_id is not null) as layer_list,
        coalesce(bool_or(layers.is_malformed), false) as is_malformed,
        count(layers.allow_groups) = 0 or bool_or(rests.is_orphan) as has_no_allow,
        count(layers.deny_groups) > 0 as has_deny,
        coalesce(min(layers.layer_tenant), {{ default_tenant }}) as lowest_tenant,
        coalesce(max(layers.layer_tenant), {{ default_tenant }}) as highest_tenant
    from parts
    inner join rests
        on rests.project_name = parts.project_name and rests.unique_id = parts.unique_id and rests.segment = parts.segment and rests.state_number = parts.state_number
    left join layers
        on layers.raw_id = rests.layer_raw_id
        and (layers.part_kind = '' or (layers.part_kind = parts.part_kind and layers.part_name = parts.part_name))
    group by parts.project_name, parts.unique_id, parts.segment, parts.state_number, parts.part_kind, parts.part_name
),

-- what lies before a gap passes the last policy before it and the one of today
combined as (
    select
        states.project_name, states.unique_id, states.segment, states.part_kind, states.part_name,
        list_sort(list_distinct(flatten(list(later.layer_list)))) as layer_list,
        bool_or(later.is_malformed) as is_malformed,
        bool_or(later.has_no_allow and later.has_deny) as has_deny_alone,
        bool_or(later.has_no_allow) as has_no_allow,
        min(later.lowest_tenant) as lowest_tenant,
        max(later.highest_tenant) as highest_tenant
    from anchor_states as states
    inner join anchor_states as later
        on later.project_name = states.project_name and later.unique_id = states.unique_id and later.segment >= states.segment
        and (later.part_kind = states.part_kind and later.part_name = states.part_name)
    group by states.project_name, states.unique_id, states.segment, states.part_kind, states.part_name
),

judged as (
    select
        *,
        lowest_tenant as tenant_id,
        case
            when is_malformed then 'malformed policy'
            when lowest_tenant <> highest_tenant then 'two tenants'
            when has_deny_alone then 'deny without allow'
            when has_no_allow then 'no allow'
        end as closed_because
    from combined
),

final as (
    select
        judged.project_name,
        judged.unique_id,
        judged.segment,
        judged.part_kind,
        judged.part_name,
        judged.tenant_id,
        judged.closed_because,
        judged.layer_list,
        case when closed_because is null then {{ dbt_provenance.stable_number("tenant_id || chr(31) || cast(to_json(layer_list) as varchar)") }} end as policy_id,
        -- of a test: what it tests, and is seen with
        anchors.parent_ids,
        -- until when the segment stood; null is still
        anchors.until_utc as segment_until_utc,
        -- since when what is recorded of it belongs to this segment; null is from the beginning
        case when judged.segment > min(judged.segment) over (partition by judged.project_name, judged.unique_id) then anchors.segment_from_utc end as segment_from_utc
    from judged
    inner join anchors on anchors.project_name = judged.project_name and anchors.unique_id = judged.unique_id and anchors.segment = judged.segment
)

select * from final
