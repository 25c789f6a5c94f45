{#- The end of the closing line when nobody may see anything yet. -#}
{% macro closed_to_all() -%}
    {{ return('') }}
{%- endmacro %}
