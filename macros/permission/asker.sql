{#- The CTEs by which every read begins, from a CTE `given` with given_principal, given_tenant and given_known_at:
      asker             the principal with its one tenant; no row when unknown, or in several tenants and none given
      asker_groups      its groups in that tenant
      visible_policies  the policies that it passes
      struck            evidence and entities that the ledger takes from it
    An answer reads nothing that does not pass through these. -#}
{% macro asker_ctes() -%}
memberships_of_asker as materialized (
    select memberships.principal_id, memberships.tenant_id, memberships.group_name, memberships.is_service
    from {{ dbt_provenance.relation('prov_int_memberships') }} as memberships
    inner join given
        on memberships.principal_id = given.given_principal
        and (given.given_tenant is null or memberships.tenant_id = given.given_tenant)
    where not exists (select 1 from {{ dbt_provenance.relation('prov_ledger') }} where ledger_action = 'seal')
),

asker as materialized (
    select min(principal_id) as principal_id, min(tenant_id) as tenant_id, bool_or(is_service) as is_service
    from memberships_of_asker
    having count(distinct tenant_id) = 1
),

asker_groups as (
    select memberships_of_asker.group_name
    from memberships_of_asker
    inner join asker on asker.tenant_id = memberships_of_asker.tenant_id
    where memberships_of_asker.group_name is not null
),

visible_policies as materialized (
    select policies.policy_id
    from {{ dbt_provenance.relation('prov_int_policies') }} as policies
    inner join asker on asker.tenant_id = policies.tenant_id
    inner join {{ dbt_provenance.relation('prov_int_policy_groups') }} as wanted on wanted.policy_id = policies.policy_id
    left join asker_groups on asker_groups.group_name = wanted.group_name
    group by policies.policy_id, policies.allow_layers
    having count(distinct case when wanted.effect = 'allow' and asker_groups.group_name is not null then wanted.layer_number end) = policies.allow_layers
       and count(case when wanted.effect = 'deny' and asker_groups.group_name is not null then 1 end) = 0
),

struck as materialized (
    select ledger.evidence_id, ledger.entity_id
    from {{ dbt_provenance.relation('prov_ledger') }} as ledger
    inner join asker on ledger.tenant_id is null or ledger.tenant_id = asker.tenant_id
    where ledger.ledger_action in ('erase', 'revoke')
      and (ledger.group_name is null or ledger.group_name in (select group_name from asker_groups))
)
{%- endmacro %}

{#- Who asks when nobody is named: the session's variable, then the project's. Never a default of the argument: that would be frozen
    when the function is created. -#}
{% macro asking_principal(argument='null') -%}
    {{ return(adapter.dispatch('session_value', 'dbt_provenance')('provenance_principal', argument)) }}
{%- endmacro %}

{% macro asking_tenant(argument='null') -%}
    {{ return(adapter.dispatch('session_value', 'dbt_provenance')('provenance_tenant', argument)) }}
{%- endmacro %}

{% macro duckdb__session_value(name, argument) -%}
    {{ return("coalesce(" ~ argument ~ ", cast(getvariable('" ~ name ~ "') as varchar), " ~ dbt_provenance.literal(var(name, none)) ~ ")") }}
{%- endmacro %}

{#- Whether a row of evidence may be shown: its policy passes, and the ledger has not taken it. `row_alias` has policy_id, evidence_id, entity_id. -#}
{% macro may_see(row_alias) -%}
    {{ row_alias }}.policy_id in (select policy_id from visible_policies)
    and not exists (select 1 from struck where struck.evidence_id = {{ row_alias }}.evidence_id or struck.entity_id = {{ row_alias }}.entity_id)
{%- endmacro %}
