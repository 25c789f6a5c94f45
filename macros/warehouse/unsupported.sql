{#- On an adapter without variants of its own the models are disabled, and dbt still reads them: what they call gives a word then, and
    an error where it would run. -#}
{% macro unsupported() -%}
    {%- if execute -%}
        {%- do exceptions.raise_compiler_error('dbt_provenance: ' ~ dbt_provenance.preflight()) -%}
    {%- endif -%}
    {{ return('null') }}
{%- endmacro %}

{% macro default__stable_number(text_sql) -%}{{ return(dbt_provenance.unsupported()) }}{%- endmacro %}
{% macro default__utc_now() -%}{{ return(dbt_provenance.unsupported()) }}{%- endmacro %}
{% macro default__session_value(name, argument) -%}{{ return(dbt_provenance.unsupported()) }}{%- endmacro %}
{% macro default__known_at(argument) -%}{{ return(dbt_provenance.unsupported()) }}{%- endmacro %}
{% macro default__create_function(relation, arguments, body) -%}{{ return(dbt_provenance.unsupported()) }}{%- endmacro %}
{% macro default__authored_hash(document) -%}{{ return(dbt_provenance.unsupported()) }}{%- endmacro %}
{% macro default__count_visible_to_anyone(nodes, policies, memberships, guards) -%}{{ return(dbt_provenance.unsupported()) }}{%- endmacro %}
{% macro default__insert_staged_from(seen, rows) -%}{{ return(dbt_provenance.unsupported()) }}{%- endmacro %}
{% macro default__open_digests(landing, types) -%}{{ return(dbt_provenance.unsupported()) }}{%- endmacro %}
{% macro default__open_rows(landing) -%}{{ return(dbt_provenance.unsupported()) }}{%- endmacro %}
{% macro default__insert_results_statement(rows) -%}{{ return(dbt_provenance.unsupported()) }}{%- endmacro %}
{% macro default__insert_freshness_statement(rows) -%}{{ return(dbt_provenance.unsupported()) }}{%- endmacro %}
{% macro default__described_columns(sql) -%}{{ return(dbt_provenance.unsupported()) }}{%- endmacro %}
{% macro default__closure_cte(roots) -%}{{ return(dbt_provenance.unsupported()) }}{%- endmacro %}
{% macro default__last_number(relation, column) -%}{{ return(dbt_provenance.unsupported()) }}{%- endmacro %}
{% macro default__spread_cte() -%}{{ return(dbt_provenance.unsupported()) }}{%- endmacro %}
{% macro default__utc_from_text(text_sql) -%}{{ return(dbt_provenance.unsupported()) }}{%- endmacro %}
{% macro default__seconds_between(earlier, later) -%}{{ return(dbt_provenance.unsupported()) }}{%- endmacro %}
