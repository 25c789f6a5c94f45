{#- The present instant as a timestamp without zone, in UTC whatever the session's zone. -#}
{% macro utc_now() -%}
    {{ return(adapter.dispatch('utc_now', 'dbt_provenance')()) }}
{%- endmacro %}

{% macro duckdb__utc_now() -%}
    {{ return('make_timestamp(epoch_us(now()))') }}
{%- endmacro %}
