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
    {{ return(dbt_provenance.kind_in_warehouse(relation) is not none) }}
{%- endmacro %}

{#- Whether it is there as a table: `dbt clone` puts a view of another target's in its place. -#}
{% macro is_own_table(relation) -%}
    {{ return(dbt_provenance.kind_in_warehouse(relation) == 'table') }}
{%- endmacro %}

{#- table or view; none when it is not there, or the models are disabled. The warehouse is asked, not the adapter's cache: in dbt 2
    (tried on rc196) that lacks, one time in three, a relation that another thread has just created. -#}
{% macro kind_in_warehouse(relation) -%}
    {%- if relation is none -%}
        {{ return(none) }}
    {%- endif -%}
    {{ return(adapter.dispatch('kind_in_warehouse', 'dbt_provenance')(relation)) }}
{%- endmacro %}

{% macro default__kind_in_warehouse(relation) -%}
    {%- set found = adapter.get_relation(database=relation.database, schema=relation.schema, identifier=relation.identifier) -%}
    {{ return(none if found is none else 'table' if found.is_table else 'view') }}
{%- endmacro %}

{% macro duckdb__kind_in_warehouse(relation) -%}
    {%- set found = run_query(
        "select case table_type when 'VIEW' then 'view' else 'table' end from information_schema.tables"
        " where lower(table_catalog) = lower(" ~ dbt_provenance.literal(relation.database) ~ ")"
        " and lower(table_schema) = lower(" ~ dbt_provenance.literal(relation.schema) ~ ")"
        " and lower(table_name) = lower(" ~ dbt_provenance.literal(relation.identifier) ~ ")").rows -%}
    {{ return(found[0][0] if found else none) }}
{%- endmacro %}
