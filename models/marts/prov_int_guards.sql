-- one row per resource, segment between gaps, and part: the policy that guards it (null: nobody passes, and why)
with anchors as (
    select raw_id, project_name, unique_id, segment, resource_type, json_extract_string(document, '$.page') as page_id,
        coalesce(json_extract_string(document, '$.attached_node'), case when resource_type in ('test', 'unit_test') then json_extract_string(document, '$.depends_on[0]') end) as parent_id
    from {{ dbt_provenance.relation('prov_stg_resources') }}
    where is_last_of_segment and document is not null and not is_own_package
),

-- a piece of a page is guarded by the page
own_anchors as (
    select
        anchors.project_name,
        anchors.unique_id,
        anchors.segment,
        coalesce(pages.raw_id, anchors.raw_id) as raw_id
    from anchors
    left join (
        select * from anchors where resource_type = 'page' qualify row_number() over (partition by project_name, unique_id order by segment desc) = 1
    ) as pages
        on pages.unique_id = anchors.page_id and pages.project_name = anchors.project_name
),

layers as (
    select * from {{ dbt_provenance.relation('prov_int_layers') }}
),

parts as (
    select distinct own_anchors.project_name, own_anchors.unique_id, own_anchors.segment, layers.raw_id, layers.part_kind, layers.part_name
    from own_anchors
    inner join layers on layers.raw_id = own_anchors.raw_id and layers.part_kind <> ''
    union all
    select project_name, unique_id, segment, raw_id, '', ''
    from own_anchors
),

-- what each single state asks for
anchor_states as (
    select
        parts.project_name, parts.unique_id, parts.segment, parts.part_kind, parts.part_name,
        list(distinct {'allow': layers.allow_groups, 'deny': layers.deny_groups}) filter (where layers.raw_id is not null) as layer_list,
        coalesce(bool_or(layers.is_malformed), false) as is_malformed,
        count(layers.allow_groups) = 0 as has_no_allow,
        count(layers.deny_groups) > 0 as has_deny,
        min(layers.layer_tenant) as lowest_tenant,
        max(layers.layer_tenant) as highest_tenant
    from parts
    left join layers
        on layers.raw_id = parts.raw_id
        and (layers.part_kind = '' or (layers.part_kind = parts.part_kind and layers.part_name = parts.part_name))
    group by parts.project_name, parts.unique_id, parts.segment, parts.part_kind, parts.part_name
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
        coalesce(lowest_tenant, {{ dbt_provenance.literal(var('provenance_default_tenant', 'default')) }}) as tenant_id,
        case
            when is_malformed then 'malformed policy'
            when lowest_tenant <> highest_tenant then 'two tenants'
            when has_deny_alone then 'deny without allow'
            when has_no_allow then 'no allow'
        end as closed_because
    from combined
),

identified as (
    select
        project_name,
        unique_id,
        segment,
        part_kind,
        part_name,
        tenant_id,
        closed_because,
        layer_list,
        case when closed_because is null then {{ dbt_provenance.stable_number("tenant_id || chr(31) || cast(to_json(layer_list) as varchar)") }} end as policy_id
    from judged
),

-- a test is seen with the model that it tests
final as (
    select identified.*, parents.parent_id, parent_guards.policy_id as parent_policy_id
    from identified
    left join (select project_name, unique_id, segment, parent_id from anchors where parent_id is not null) as parents
        on parents.project_name = identified.project_name and parents.unique_id = identified.unique_id and parents.segment = identified.segment
    left join (
        select project_name, unique_id, policy_id from identified where part_kind = ''
        qualify row_number() over (partition by project_name, unique_id order by segment desc) = 1
    ) as parent_guards
        on parent_guards.project_name = parents.project_name and parent_guards.unique_id = parents.parent_id
)

select * from final
