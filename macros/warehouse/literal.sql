{#- A text as a SQL literal of the adapter, byte for byte; none gives null. The only way by which values reach SQL. -#}
{% macro literal(text) -%}
    {{ return(adapter.dispatch('literal', 'dbt_provenance')(text)) }}
{%- endmacro %}

{% macro default__literal(text) -%}
    {{ return('null' if text is none else "'" ~ (text | string | replace("'", "''")) ~ "'") }}
{%- endmacro %}
