{#- The end of the closing line while nobody may see anything, or something that cannot be read closes: how many resources, and what to do. -#}
{% macro closed_to_all(cost) -%}
    {%- set read = {
        'prov_int_nodes': ['project_name', 'unique_id', 'policy_id'], 'prov_int_policies': ['policy_id', 'tenant_id', 'allow_layers', 'deny_groups'],
        'prov_int_memberships': ['principal_id', 'tenant_id', 'group_name'], 'prov_int_guards': ['project_name', 'unique_id', 'segment', 'part_kind', 'closed_because']} -%}
    {%- set relations = [] -%}
    {%- for name in read -%}{%- do relations.append(dbt_provenance.own_relation(name)) -%}{%- endfor -%}
    {%- if none in relations -%}{{ return('') }}{%- endif -%}
    {%- set shapes = dbt_provenance.shapes_of(relations, cost) -%}
    {%- for columns in read.values() -%}
        {%- if columns | reject('in', shapes[loop.index0].columns) | list -%}{{ return('') }}{%- endif -%}
    {%- endfor -%}
    {%- set counted = dbt_provenance.send(dbt_provenance.count_visible_to_anyone(relations[0], relations[1], relations[2], relations[3]), cost).rows[0] -%}
    {%- if counted[2] | int > 0 -%}
        {{ return('; ' ~ (counted[0] ~ ' of ' ~ counted[1] ~ ' resources are visible to anyone, ' if counted[0] | int == 0 else '') ~ counted[2] ~ ' are closed because a policy of theirs cannot be read: a principal with principal_role service reads in findings which, and what to write') }}
    {%- elif counted[0] | int > 0 or counted[1] | int == 0 -%}
        {{ return('') }}
    {%- endif -%}
    {{ return('; 0 of ' ~ counted[1] ~ ' resources are visible to anyone: set the variables provenance_principals (who is in which group) and provenance_policies (what a group may see), or provenance_allow in meta, and build again') }}
{%- endmacro %}

{% macro count_visible_to_anyone(nodes, policies, memberships, guards) -%}
    {{ return(adapter.dispatch('count_visible_to_anyone', 'dbt_provenance')(nodes, policies, memberships, guards)) }}
{%- endmacro %}

{% macro duckdb__count_visible_to_anyone(nodes, policies, memberships, guards) -%}
    with askers as (
        select tenant_id, coalesce(list(group_name) filter (where group_name is not null), []) as group_list
        from {{ dbt_provenance.name_of(memberships) }}
        group by principal_id, tenant_id
    ),

    passed as (
        select distinct policies.policy_id
        from {{ dbt_provenance.name_of(policies) }} as policies
        inner join askers on askers.tenant_id = policies.tenant_id
        where not list_has_any(policies.deny_groups, askers.group_list)
          and len(list_filter(policies.allow_layers, lambda one_layer: not list_has_any(one_layer, askers.group_list))) = 0
    )

    select
        count(*) filter (where nodes.policy_id in (select policy_id from passed)),
        count(*),
        count(*) filter (where guards.closed_because in ('malformed policy', 'two tenants', 'deny without allow'))
    from {{ dbt_provenance.name_of(nodes) }} as nodes
    left join (
        select project_name, unique_id, arg_max(closed_because, segment) as closed_because
        from {{ dbt_provenance.name_of(guards) }}
        where part_kind = ''
        group by project_name, unique_id
    ) as guards on guards.project_name = nodes.project_name and guards.unique_id = nodes.unique_id
{%- endmacro %}
