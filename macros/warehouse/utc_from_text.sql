{#- An instant from a text, in UTC whatever the session's zone: without a zone it is UTC, with one it is converted; null when it is none
    (a doubled zone as in "+00:00Z"). -#}
{% macro utc_from_text(text_sql) -%}
    {{ return(adapter.dispatch('utc_from_text', 'dbt_provenance')(text_sql)) }}
{%- endmacro %}

{#- A cast to timestamp alone would drop the zone that stands in the text. -#}
{% macro duckdb__utc_from_text(text_sql) -%}
    case
        when regexp_full_match(trim({{ text_sql }}), '\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.]\d+)?)?)?') then try_cast({{ text_sql }} as timestamp)
        else make_timestamp(epoch_us(try_cast({{ text_sql }} as timestamp with time zone)))
    end
{%- endmacro %}
