{#- A declared start or end as a date. 9999-12-31, infinity and null are open (null); a timestamp start is floored, an end is ceiled. -#}
{% macro declared_date(text, is_end) -%}
    case
        when {{ dbt_provenance.is_open_date(text) }} then null
        when regexp_full_match({{ text }}, '\d{4}-\d{2}-\d{2}') then try_cast({{ text }} as date)
        when regexp_matches({{ text }}, '^\d{4}-\d{2}-\d{2}[T ]\d{2}') then cast(try_cast({{ text }} as timestamp) {{ "+ interval 1 day - interval 1 microsecond" if is_end }} as date)
    end
{%- endmacro %}

{% macro is_open_date(text) -%}
    coalesce(lower({{ text }}) in ('', 'infinity', '-infinity', 'null', 'none') or starts_with({{ text }}, '9999-12-31'), true)
{%- endmacro %}
