{#- The CTEs by which a public view begins: the session's principal (or the project's), as of now. -#}
{% macro session_ctes() -%}
given as (
    select
        {{ dbt_provenance.asking_principal() }} as given_principal,
        {{ dbt_provenance.asking_tenant() }} as given_tenant,
        {{ dbt_provenance.utc_now() }} as given_known_at
),

{{ dbt_provenance.asker_ctes() }}
{%- endmacro %}

{#- The resources that the asker may see by unique_id: for relations whose rows are parts of a resource. A test needs its model, too. -#}
{% macro visible_resource_ctes() -%}
visible_resources as (
    select guards.project_name, guards.unique_id
    from {{ dbt_provenance.relation('prov_int_guards') }} as guards
    left join {{ dbt_provenance.relation('prov_int_nodes') }} as nodes
        on nodes.project_name = guards.project_name and nodes.unique_id = guards.unique_id
    where guards.part_kind = ''
      and guards.policy_id in (select policy_id from visible_policies)
      and coalesce(guards.parent_policy_id in (select policy_id from visible_policies), guards.parent_id is null)
      and {{ dbt_provenance.is_not_struck('nodes.entity_id', 'nodes.evidence_id') }}
    qualify row_number() over (partition by guards.project_name, guards.unique_id order by guards.segment desc) = 1
)
{%- endmacro %}
