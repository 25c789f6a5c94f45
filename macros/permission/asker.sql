{#- The CTEs by which every read begins, from a CTE `given` of one row with given_principal, given_tenant and given_known_at:
      memberships_of_asker  one row: in how many tenants the principal is (of those asked for), and its groups
      asker                 the principal with its one tenant; no row when unknown, or in several tenants and none given
      visible_policies      the policies that it passes
      struck                one row: the evidence and the entities that the ledger takes from it
    An answer reads nothing that does not pass through these. A sealed ledger knows nobody. -#}
{% macro asker_ctes() -%}
memberships_of_asker as materialized (
    select
        count(distinct memberships.tenant_id) as tenant_count,
        min(memberships.principal_id) as principal_id,
        min(memberships.tenant_id) as tenant_id,
        coalesce(bool_or(memberships.is_service), false) as is_service,
        coalesce(list(memberships.group_name) filter (where memberships.group_name is not null), []) as group_list
    from {{ dbt_provenance.relation('prov_int_memberships') }} as memberships
    inner join given
        on memberships.principal_id = given.given_principal
        and (given.given_tenant is null or memberships.tenant_id = given.given_tenant)
    where not exists (select 1 from {{ dbt_provenance.relation('prov_ledger') }} where ledger_action = 'seal')
),

asker as materialized (
    select principal_id, tenant_id, is_service, group_list
    from memberships_of_asker
    where tenant_count = 1
),

visible_policies as materialized (
    select policies.policy_id
    from {{ dbt_provenance.relation('prov_int_policies') }} as policies
    inner join asker on asker.tenant_id = policies.tenant_id
    where not list_has_any(policies.deny_groups, asker.group_list)
      and len(list_filter(policies.allow_layers, lambda one_layer: not list_has_any(one_layer, asker.group_list))) = 0
),

taken as materialized (
    select ledger.evidence_id, ledger.entity_id
    from {{ dbt_provenance.relation('prov_ledger') }} as ledger
    inner join asker on ledger.tenant_id is null or ledger.tenant_id = asker.tenant_id
    where ledger.ledger_action in ('erase', 'revoke')
      and (ledger.group_name is null or list_contains(asker.group_list, ledger.group_name))
),

-- with a resource go its parts: its lineage, its freshness policy, the pieces of a page
struck as materialized (
    select
        coalesce(list(evidence_id) filter (where evidence_id is not null), []) as evidence_ids,
        coalesce(list(entity_id) filter (where entity_id is not null), []) as entity_ids
    from (
        select evidence_id, entity_id from taken
        union all
        select parts.evidence_id, null
        from {{ dbt_provenance.relation('prov_int_evidence') }} as parts
        inner join taken on taken.evidence_id = parts.whole_evidence_id
        where parts.evidence_type <> 'definition'
        union all
        select parts.evidence_id, null
        from {{ dbt_provenance.relation('prov_int_evidence') }} as parts
        inner join taken on taken.entity_id = parts.whole_entity_id
        where parts.evidence_type <> 'definition'
    )
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
    and {{ dbt_provenance.is_not_struck(row_alias ~ '.entity_id', row_alias ~ '.evidence_id') }}
{%- endmacro %}

{% macro is_not_struck(entity_id, evidence_id) -%}
    coalesce(not list_contains((select entity_ids from struck), {{ entity_id }}), true)
    and coalesce(not list_contains((select evidence_ids from struck), {{ evidence_id }}), true)
{%- endmacro %}
