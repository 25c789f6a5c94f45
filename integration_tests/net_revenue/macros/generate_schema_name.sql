{# The example takes schema names literally, so that its public schema is called `provenance`. #}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {{ custom_schema_name or target.schema }}
{%- endmacro %}
