{#- The file holds nothing else: the schemas are called provenance and provenance_internal. -#}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {{ custom_schema_name or target.schema }}
{%- endmacro %}
