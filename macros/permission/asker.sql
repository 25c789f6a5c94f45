{#- The CTEs by which every read begins, from a CTE `given` of one row with given_principal, given_tenant and given_known_at:
      visible_policies  the policies that the principal passes
      asker             one row: what was given, whether the principal is known in one tenant (is_known; else it sees nothing) and in how
                        many of those asked for (tenant_count: 0, 1, or 2 for several), its groups, the policies that it passes, and the ids
                        of what the ledger takes from it
    An answer reads nothing that does not pass through these. A sealed ledger knows nobody. -#}
{% macro asker_ctes() -%}
{#- What is public is made after all that it reads was put in place. -#}
{%- do ref('dbt_provenance', 'prov_int_build') -%}
memberships_of_asker as (
    select
        case when min(memberships.tenant_id) is null then 0 when min(memberships.tenant_id) = max(memberships.tenant_id) then 1 else 2 end as tenant_count,
        min(memberships.principal_id) as principal_id,
        min(memberships.tenant_id) as tenant_id,
        coalesce(bool_or(memberships.is_service), false) as is_service,
        coalesce(list(memberships.group_name) filter (where memberships.group_name is not null), []) as group_list
    from {{ dbt_provenance.relation('prov_int_memberships') }} as memberships
    inner join given
        on memberships.principal_id = given.given_principal
        and (given.given_tenant is null or memberships.tenant_id = given.given_tenant)
),

struck as (
    select
        coalesce(list(ledger.evidence_id) filter (where ledger.ledger_action in ('erase', 'revoke') and ledger.evidence_id is not null), []) as struck_evidence,
        coalesce(list(ledger.entity_id) filter (where ledger.ledger_action in ('erase', 'revoke') and ledger.entity_id is not null), []) as struck_entities,
        coalesce(bool_or(ledger.ledger_action = 'seal'), false) as is_sealed
    from {{ dbt_provenance.relation('prov_ledger') }} as ledger
    inner join memberships_of_asker as members
        on (ledger.tenant_id is null or ledger.tenant_id = members.tenant_id)
        and (ledger.group_name is null or list_contains(members.group_list, ledger.group_name))
),

known as materialized (
    select
        given.*,
        case when struck.is_sealed then 0 else members.tenant_count end as tenant_count,
        members.tenant_count = 1 and not struck.is_sealed as is_known,
        members.principal_id,
        members.tenant_id,
        members.is_service and members.tenant_count = 1 and not struck.is_sealed as is_service,
        members.group_list,
        list_concat(struck.struck_evidence, struck.struck_entities) as struck_keys
    from given
    cross join memberships_of_asker as members
    cross join struck
),

visible_policies as materialized (
    select policies.policy_id
    from {{ dbt_provenance.relation('prov_int_policies') }} as policies
    inner join known on known.is_known and known.tenant_id = policies.tenant_id
    where not list_has_any(policies.deny_groups, known.group_list)
      and len(list_filter(policies.allow_layers, lambda one_layer: not list_has_any(one_layer, known.group_list))) = 0
),

asker as materialized (
    select known.*, passed.policy_list
    from known
    cross join (select coalesce(list(policy_id), []) as policy_list from visible_policies) as passed
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

{#- As known when: the argument, then the session's variable, never later than now. A time that cannot be read is before all that is known. -#}
{% macro asking_known_at(argument='null') -%}
    {{ return(adapter.dispatch('known_at', 'dbt_provenance')(argument)) }}
{%- endmacro %}

{#- A text may carry an offset, which a cast to a timestamp would pass over. -#}
{% macro duckdb__known_at(argument) -%}
    {%- set said = "nullif(trim(coalesce(cast(" ~ argument ~ " as varchar), cast(getvariable('provenance_known_at') as varchar))), '')" -%}
    least(
        case
            when {{ said }} is null then {{ dbt_provenance.utc_now() }}
            else coalesce(
                case when regexp_matches({{ said }}, '\d:\d\d.*([zZ]|[+-]\d\d(:?\d\d)?)$') then make_timestamp(epoch_us(try_cast({{ said }} as timestamptz))) else try_cast({{ said }} as timestamp) end,
                timestamp '0001-01-01')
        end,
        {{ dbt_provenance.utc_now() }})
{%- endmacro %}

{% macro duckdb__session_value(name, argument) -%}
    {{ return("coalesce(" ~ argument ~ ", cast(getvariable('" ~ name ~ "') as varchar), " ~ dbt_provenance.literal(var(name, none)) ~ ")") }}
{%- endmacro %}

{#- Whether a row of evidence may be shown: its policy passes, and the ledger has not taken it or what it is a part of. `row_alias` has
    policy_id and ledger_keys; `asker` is joined. What has no policy is closed to everyone but the owner, in whose list -1 stands. -#}
{% macro may_see(row_alias) -%}
    list_contains(asker.policy_list, coalesce({{ row_alias }}.policy_id, -1)) and not list_has_any(asker.struck_keys, {{ row_alias }}.ledger_keys)
{%- endmacro %}

{#- Whether a statement names, or named, something that the asker may not see. -#}
{% macro names_hidden(row_alias) -%}
    (not list_has_all(asker.policy_list, {{ row_alias }}.named_policy_ids) or list_has_any(asker.struck_keys, {{ row_alias }}.named_keys))
{%- endmacro %}

{#- The same of what is only named (a node, an end of an edge), by its policy, entity and evidence. -#}
{% macro may_name(policy_id, entity_id, evidence_id) -%}
    list_contains(asker.policy_list, coalesce({{ policy_id }}, -1)) and not list_has_any(asker.struck_keys, [{{ entity_id }}, {{ evidence_id }}])
{%- endmacro %}
