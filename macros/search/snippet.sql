{#- At most 240 characters of a text from shortly before the first matched term on, verbatim. -#}
{% macro snippet(text, term_list) -%}
    substr({{ text }}, cast(greatest(1, coalesce(list_min(list_filter(list_transform({{ term_list }}, lambda one_term: strpos(lower({{ text }}), one_term)), lambda one_place: one_place > 0)), 1) - 40) as bigint), 240)
{%- endmacro %}
