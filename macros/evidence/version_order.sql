{#- A version as something that can be ordered: numbers by value and before texts, as dbt orders them. -#}
{% macro version_order(version_sql) -%}
    {'number': coalesce(try_cast({{ version_sql }} as double), 1e308), 'label': {{ version_sql }}}
{%- endmacro %}
