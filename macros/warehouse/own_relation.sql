{#- One of this package's relations by model name, from the graph: for hooks and materializations, where ref() would add an
    edge to the DAG. None when the package's models are disabled on this adapter. -#}
{% macro own_relation(model_name) -%}
    {%- set node = graph.nodes.get('model.dbt_provenance.' ~ model_name) -%}
    {%- if node is none or node is undefined -%}
        {{ return(none) }}
    {%- endif -%}
    {{ return(api.Relation.create(database=node.database, schema=node.schema, identifier=node.alias)) }}
{%- endmacro %}

{#- Whether one of this package's relations is there. -#}
{% macro exists_in_warehouse(relation) -%}
    {%- if relation is none -%}
        {{ return(false) }}
    {%- endif -%}
    {{ return(adapter.get_relation(database=relation.database, schema=relation.schema, identifier=relation.identifier) is not none) }}
{%- endmacro %}

{#- Whether it is there as a table: `dbt clone` puts a view of another target's in its place. -#}
{% macro is_own_table(relation) -%}
    {%- if relation is none -%}
        {{ return(false) }}
    {%- endif -%}
    {%- set found = adapter.get_relation(database=relation.database, schema=relation.schema, identifier=relation.identifier) -%}
    {{ return(found is not none and found.is_table) }}
{%- endmacro %}
