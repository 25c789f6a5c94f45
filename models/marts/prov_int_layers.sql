-- one row per permission layer of a resource (its last state before each gap) or of a part of it: who is allowed, who is denied, which tenant
-- depends_on: {{ dbt_provenance.relation('prov_int_begun') }}
with states as (
    select *
    from {{ dbt_provenance.relation('prov_stg_resources') }}
    where not is_own_package
),

anchors as (
    select raw_id, project_name, package_name, unique_id, segment, resource_type, document,
        replace(original_file_path, '\', '/') as file_path,
        -- the end of the time until which it said so
        recorded_to_utc as until_utc,
        json_extract_string(document, '$.group') as dbt_group,
        cast(json_extract_string(document, '$.tags[*]') as varchar[]) as tags,
        json_extract_string(document, '$.front_matter_error') as front_matter_error,
        {% if var('provenance_use_grants', false) %}cast(json_extract_string(document, '$.grants.select[*]') as varchar[]){% else %}cast(null as varchar[]){% endif %} as granted
    from states
    where is_last_of_segment
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
    having allow_groups is not null or deny_groups is not null or layer_tenant is not null or is_malformed
),

-- a part that is no longer there when its resource is last seen is guarded by the last policy that it had
last_of_gone_parts as (
    select anchors.raw_id, declared.raw_id as declared_raw_id, declared.part_kind, declared.part_name
    from declared
    inner join states on states.raw_id = declared.raw_id
    inner join anchors
        on anchors.project_name = states.project_name and anchors.unique_id = states.unique_id and anchors.segment = states.segment
        and anchors.raw_id > declared.raw_id
    where declared.part_kind <> ''
      and not coalesce(list_contains(
          case declared.part_kind
              when 'column' then json_keys(anchors.document, '$.columns')
              {%- for list_name, part_kind in [('measures', 'measure'), ('dimensions', 'dimension'), ('entities', 'entity')] %}
              when '{{ part_kind }}' then cast(json_extract_string(anchors.document, '$.{{ list_name }}[*].name') as varchar[])
              {%- endfor %}
          end, declared.part_name), false)
    qualify rank() over (partition by anchors.raw_id, declared.part_kind, declared.part_name order by declared.raw_id desc) = 1
),

-- a dbt group speaks as it does today; for what was gone before, also as it did then
group_states as (
    select anchors.raw_id, anchors.dbt_group, dbt_groups.raw_id as declared_raw_id
    from anchors
    inner join states as dbt_groups
        on dbt_groups.resource_type = 'group' and dbt_groups.project_name = anchors.project_name
        and dbt_groups.unique_id = 'group.' || anchors.package_name || '.' || anchors.dbt_group
    qualify dbt_groups.raw_id in (
        max(dbt_groups.raw_id) over (partition by anchors.raw_id),
        max(dbt_groups.raw_id) filter (where dbt_groups.recorded_from_utc < anchors.until_utc) over (partition by anchors.raw_id)
    )
),

rules as (
    select
        policy_name,
        applies_to,
        pattern,
        rule_tenant,
        applies_to_unknown,
        '(?s)^' || replace(regexp_escape(case when applies_to = 'path' then replace(pattern, '\', '/') else pattern end), '\*', '.*') || '$' as pattern_expression,
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
    union all
    select gone.raw_id, gone.part_kind, gone.part_name, 'column', declared.place, declared.allow_groups, declared.deny_groups, declared.layer_tenant, declared.is_malformed
    from last_of_gone_parts as gone
    inner join declared on declared.raw_id = gone.declared_raw_id and declared.part_kind = gone.part_kind and declared.part_name = gone.part_name
    union all
    select group_states.raw_id, '', '', 'dbt group', group_states.dbt_group, declared.allow_groups, declared.deny_groups, declared.layer_tenant, declared.is_malformed
    from group_states
    inner join declared on declared.raw_id = group_states.declared_raw_id and declared.part_kind = ''
    union all
    select anchors.raw_id, '', '', 'policy rule', rules.policy_name, rules.allow_groups, rules.deny_groups, rules.rule_tenant, rules.is_malformed
    from anchors
    inner join rules
        on rules.applies_to_unknown
        or (rules.applies_to = 'path' and regexp_matches(anchors.file_path, rules.pattern_expression))
        or (rules.applies_to = 'tag' and len(list_filter(anchors.tags, lambda one_tag: regexp_matches(one_tag, rules.pattern_expression))) > 0)
        or (rules.applies_to = 'dbt_group' and regexp_matches(anchors.dbt_group, rules.pattern_expression))
        or (rules.applies_to = 'resource_type' and regexp_matches(anchors.resource_type, rules.pattern_expression))
        or (rules.applies_to = 'project' and regexp_matches(anchors.project_name, rules.pattern_expression))
    union all
    -- front matter that cannot be read, or a document that was erased, may have held a denial
    select raw_id, '', '', 'front matter', 'front_matter', null, null, null, true
    from anchors
    where front_matter_error is not null or document is null
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
