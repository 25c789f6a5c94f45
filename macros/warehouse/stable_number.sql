{#- A positive whole number below 2^60 that depends on nothing but the text. -#}
{% macro stable_number(text_sql) -%}
    {{ return(adapter.dispatch('stable_number', 'dbt_provenance')(text_sql)) }}
{%- endmacro %}

{% macro duckdb__stable_number(text_sql) -%}
    {{ return("cast('0x' || substr(md5(" ~ text_sql ~ "), 1, 15) as bigint)") }}
{%- endmacro %}
