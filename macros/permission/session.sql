{#- The CTEs by which a public view begins: the session's principal (or the project's), as known at the session's time, else now. -#}
{% macro session_ctes() -%}
given as (
    select
        {{ dbt_provenance.asking_principal() }} as given_principal,
        {{ dbt_provenance.asking_tenant() }} as given_tenant,
        cast(null as date) as given_date,
        {{ dbt_provenance.asking_known_at() }} as given_known_at
),

{{ dbt_provenance.asker_ctes() }}
{%- endmacro %}

{#- The same for the owner, who sees all tenants and what is closed to everyone, and not what is erased: for a check inside dbt, never for a
    public relation. -1 stands for what has no policy, see may_see. -#}
{% macro owner_ctes() -%}
asker as materialized (
    select
        cast(null as varchar) as given_principal, cast(null as varchar) as given_tenant, cast(null as date) as given_date,
        {{ dbt_provenance.utc_now() }} as given_known_at,
        1 as tenant_count, true as is_known, true as is_service, cast(null as varchar) as tenant_id, cast([] as varchar[]) as group_list,
        list_append(policies.policy_list, -1) as policy_list,
        list_concat(struck.struck_evidence, struck.struck_entities) as struck_keys
    from (select coalesce(list(policy_id), []) as policy_list from {{ dbt_provenance.relation('prov_int_policies') }}) as policies
    cross join (
        select
            coalesce(list(evidence_id) filter (where evidence_id is not null), []) as struck_evidence,
            coalesce(list(entity_id) filter (where entity_id is not null), []) as struck_entities
        from {{ dbt_provenance.relation('prov_ledger') }}
        where ledger_action = 'erase' and group_name is null
    ) as struck
)
{%- endmacro %}

{#- The resources that the asker may see by unique_id, for relations whose rows are parts of a resource, and since when what was recorded
    of them (what lies before a gap may be hidden). A test needs what it tests, too. -#}
{% macro visible_resource_ctes() -%}
passing_resources as (
    select
        guards.project_name,
        guards.unique_id,
        arg_max(guards.parent_ids, guards.segment) as parent_ids,
        arg_min(coalesce(guards.segment_from_utc, timestamp '0001-01-01'), guards.segment) as visible_from_utc
    from {{ dbt_provenance.relation('prov_int_guards') }} as guards
    cross join asker
    left join {{ dbt_provenance.relation('prov_int_nodes') }} as nodes
        on nodes.project_name = guards.project_name and nodes.unique_id = guards.unique_id
    where guards.part_kind = ''
      and {{ dbt_provenance.may_name('guards.policy_id', 'nodes.entity_id', 'nodes.evidence_id') }}
    group by guards.project_name, guards.unique_id
),

missing_parents as (
    select tests.project_name, tests.unique_id
    from (select project_name, unique_id, unnest(parent_ids) as parent_id from passing_resources) as tests
    left join passing_resources as parents on parents.project_name = tests.project_name and parents.unique_id = tests.parent_id
    where parents.unique_id is null
),

visible_resources as (
    select passing_resources.project_name, passing_resources.unique_id, passing_resources.visible_from_utc
    from passing_resources
    left join missing_parents on missing_parents.project_name = passing_resources.project_name and missing_parents.unique_id = passing_resources.unique_id
    where missing_parents.unique_id is null
)
{%- endmacro %}
