-- one row per permission layer of a resource (its last state before each gap) or of a part of it: who is allowed, who is denied, which tenant
with anchors as (
    select raw_id, project_name, package_name, unique_id, segment, resource_type, original_file_path,
        json_extract_string(document, '$.group') as dbt_group,
        cast(json_extract_string(document, '$.tags[*]') as varchar[]) as tags,
        json_extract_string(document, '$.front_matter_error') as front_matter_error,
        {% if var('provenance_use_grants', false) %}cast(json_extract_string(document, '$.grants.select[*]') as varchar[]){% else %}cast(null as varchar[]){% endif %} as granted
    from {{ dbt_provenance.relation('prov_stg_resources') }}
    where is_last_of_segment and document is not null and not is_own_package
),

declared as (
    select
        raw_id,
        part_kind,
        part_name,
        place,
        -- the stricter of several rows of one key cannot happen here: a place has each key once
        max(value_list) filter (where declared_key = 'allow') as allow_groups,
        max(value_list) filter (where declared_key = 'deny') as deny_groups,
        max(value_text) filter (where declared_key = 'tenant') as layer_tenant,
        bool_or({{ dbt_provenance.closes('declared_key', 'value_type', 'value_list', 'declared_value', 'place') }}) as is_malformed
    from {{ dbt_provenance.relation('prov_stg_meta') }}
    group by raw_id, part_kind, part_name, place
),

rules as (
    select
        policy_name,
        applies_to,
        pattern,
        rule_tenant,
        applies_to_unknown,
        '^' || replace(regexp_escape(pattern), '\*', '.*') || '$' as pattern_expression,
        list(group_name) filter (where effect = 'allow' and not is_malformed) as allow_groups,
        list(group_name) filter (where effect = 'deny' and not is_malformed) as deny_groups,
        bool_or(is_malformed) or applies_to_unknown as is_malformed
    from {{ dbt_provenance.relation('prov_stg_policies') }}
    group by policy_name, applies_to, pattern, rule_tenant, applies_to_unknown
),

unioned as (
    select anchors.raw_id, declared.part_kind, declared.part_name,
        case when declared.part_kind <> '' then 'column' when declared.place = 'front_matter' then 'front matter' else 'resource' end as layer_kind,
        declared.place as layer_name, declared.allow_groups, declared.deny_groups, declared.layer_tenant, declared.is_malformed
    from anchors
    inner join declared on declared.raw_id = anchors.raw_id
    where declared.allow_groups is not null or declared.deny_groups is not null or declared.layer_tenant is not null or declared.is_malformed
    union all
    select anchors.raw_id, '', '', 'dbt group', anchors.dbt_group, declared.allow_groups, declared.deny_groups, declared.layer_tenant, declared.is_malformed
    from anchors
    inner join anchors as dbt_groups
        on dbt_groups.resource_type = 'group' and dbt_groups.project_name = anchors.project_name
        and dbt_groups.unique_id = 'group.' || anchors.package_name || '.' || anchors.dbt_group
    inner join declared on declared.raw_id = dbt_groups.raw_id and declared.part_kind = ''
    where declared.allow_groups is not null or declared.deny_groups is not null or declared.layer_tenant is not null or declared.is_malformed
    union all
    select anchors.raw_id, '', '', 'policy rule', rules.policy_name, rules.allow_groups, rules.deny_groups, rules.rule_tenant, rules.is_malformed
    from anchors
    inner join rules
        on rules.applies_to_unknown
        or (rules.applies_to = 'path' and regexp_matches(anchors.original_file_path, rules.pattern_expression))
        or (rules.applies_to = 'tag' and len(list_filter(anchors.tags, lambda one_tag: regexp_matches(one_tag, rules.pattern_expression))) > 0)
        or (rules.applies_to = 'dbt_group' and regexp_matches(anchors.dbt_group, rules.pattern_expression))
        or (rules.applies_to = 'resource_type' and regexp_matches(anchors.resource_type, rules.pattern_expression))
        or (rules.applies_to = 'project' and regexp_matches(anchors.project_name, rules.pattern_expression))
    union all
    -- front matter that cannot be read may have held a denial
    select raw_id, '', '', 'front matter', 'front_matter', null, null, null, true
    from anchors
    where front_matter_error is not null
    union all
    select raw_id, '', '', 'dbt grants', 'select', granted, null, null, false
    from anchors
    where len(granted) > 0
),

final as (
    select
        raw_id,
        part_kind,
        part_name,
        layer_kind,
        layer_name,
        list_sort(list_distinct(allow_groups)) as allow_groups,
        list_sort(list_distinct(deny_groups)) as deny_groups,
        layer_tenant,
        coalesce(is_malformed, false) as is_malformed
    from unioned
)

select * from final
