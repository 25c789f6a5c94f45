{#- The check that a project switches on with the variable provenance_fail_on, a list of kinds of conflict (and `errors`: findings that are
    errors): one row for each that is found, whoever may see it, so that `dbt build` and `dbt test` fail. A name that is none of them is
    a row, too: a check that looks for nothing must not pass. -#}
{% test definitions_agree(model) %}
{%- set wanted = dbt_provenance.fail_on() -%}
{%- set known = ['governing', 'draft', 'page', 'duplicate', 'same_name', 'foreign_description', 'errors'] -%}
with {{ dbt_provenance.owner_ctes() }},

{{ dbt_provenance.conflict_ctes() }},

failing as (
    select conflict_kind as failed_on, one_side.entity_id as entity_id, other_side.entity_id as other_entity_id, decided_by as failed_because
    from pairs
    where is_newest and conflict_kind in ({{ dbt_provenance.quoted(wanted) }})
    {%- if 'errors' in wanted %}
    union all
    select 'errors', entity_id, null, finding_rule || ': ' || advice
    from {{ dbt_provenance.relation('prov_int_findings') }}
    where severity = 'error'
    union all
    select 'errors', entity_id, null, finding_rule || ': ' || advice
    from ({{ dbt_provenance.pair_findings() }}) as found
    where finding_rule <> 'duplicate'
    {%- endif %}
    {%- for name in wanted if name not in known %}
    union all
    select {{ dbt_provenance.literal(name) }}, null, null, 'provenance_fail_on knows only {{ known | join(", ") }}'
    {%- endfor %}
)

select distinct * from failing
-- built after {{ model }}
{% endtest %}

{% macro fail_on() -%}
    {%- set wanted = var('provenance_fail_on', none) or [] -%}
    {%- set names = [] -%}
    {%- for name in ([wanted] if wanted is string or wanted is not iterable else wanted) -%}{%- do names.append(name | string) -%}{%- endfor -%}
    {{ return(names) }}
{%- endmacro %}
