{#- The end of the closing line while nobody may see anything: how many resources there are, and what to set. -#}
{% macro closed_to_all() -%}
    {%- set nodes = dbt_provenance.own_relation('prov_int_nodes') -%}
    {%- set policies = dbt_provenance.own_relation('prov_int_policies') -%}
    {%- set memberships = dbt_provenance.own_relation('prov_int_memberships') -%}
    {%- set read = [(nodes, ['policy_id']), (policies, ['policy_id', 'tenant_id', 'allow_layers', 'deny_groups']), (memberships, ['principal_id', 'tenant_id', 'group_name'])] -%}
    {%- for relation, columns in read -%}
        {%- if not dbt_provenance.exists_in_warehouse(relation) or dbt_provenance.missing_columns(relation, columns) -%}{{ return('') }}{%- endif -%}
    {%- endfor -%}
    {%- set counted = run_query(dbt_provenance.count_visible_to_anyone(nodes, policies, memberships)).rows[0] -%}
    {%- if counted[0] | int > 0 -%}{{ return('') }}{%- endif -%}
    {{ return('; 0 of ' ~ counted[1] ~ ' resources are visible to anyone: set the variables provenance_principals (who is in which group) and provenance_policies (what a group may see), or provenance_allow in meta, and build again') }}
{%- endmacro %}

{% macro count_visible_to_anyone(nodes, policies, memberships) -%}
    {{ return(adapter.dispatch('count_visible_to_anyone', 'dbt_provenance')(nodes, policies, memberships)) }}
{%- endmacro %}

{% macro duckdb__count_visible_to_anyone(nodes, policies, memberships) -%}
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

    select count(*) filter (where policy_id in (select policy_id from passed)), count(*)
    from {{ dbt_provenance.name_of(nodes) }}
{%- endmacro %}
