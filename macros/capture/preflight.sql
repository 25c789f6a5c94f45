{#- What stands in the way of writing, as half a sentence with the way out; none when nothing does. -#}
{% macro preflight(cost=none) -%}
    {{ return(adapter.dispatch('preflight', 'dbt_provenance')(cost if cost is not none else dbt_provenance.no_cost_yet())) }}
{%- endmacro %}

{% macro default__preflight(cost) -%}
    {{ return('the ' ~ target.type ~ ' adapter is not supported yet (DuckDB is); set the variable provenance_enabled to false to silence this line') }}
{%- endmacro %}

{% macro duckdb__preflight(cost) -%}
    {%- set raw = dbt_provenance.own_relation('prov_raw_resources') -%}
    {%- if raw is not none and dbt_provenance.send('select bool_or(readonly) from duckdb_databases() where database_name = ' ~ dbt_provenance.literal(raw.database), cost).rows[0][0] -%}
        {{ return('the database is open read-only') }}
    {%- endif -%}
    {{ return(dbt_provenance.missing_landing(cost)) }}
{%- endmacro %}

{#- The first landing relation that is not as its model says. -#}
{% macro missing_landing(cost) -%}
    {%- set names = ['prov_raw_resources', 'prov_raw_runs', 'prov_raw_run_results', 'prov_raw_freshness', 'prov_ledger'] -%}
    {%- set relations = [] -%}
    {%- for name in names -%}{%- do relations.append(dbt_provenance.own_relation(name)) -%}{%- endfor -%}
    {%- if none in relations -%}{{ return('its models are disabled') }}{%- endif -%}
    {%- set shapes = dbt_provenance.shapes_of(relations, cost) -%}
    {%- for relation in relations -%}
        {%- set shape = shapes[loop.index0] -%}
        {%- if shape.kind is none -%}
            {{ return(relation.identifier ~ ' is not there yet; `dbt build --select package:dbt_provenance` creates it') }}
        {%- elif shape.kind != 'table' -%}
            {{ return(relation.identifier ~ ' is a view, as dbt clone makes it; `dbt build --select package:dbt_provenance` makes it a table') }}
        {%- endif -%}
        {%- set missing = graph.nodes['model.dbt_provenance.' ~ names[loop.index0]].columns | list | reject('in', shape.columns) | list -%}
        {%- if missing -%}
            {{ return(relation.identifier ~ ' lacks ' ~ missing | join(', ') ~ '; `dbt build --select package:dbt_provenance` adds it') }}
        {%- endif -%}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro %}

{#- Of each relation its kind (table, view, none when it is not there) and its columns in lower case: one statement, which begins the
    transaction in which the hook writes. -#}
{% macro shapes_of(relations, cost) -%}
    {%- do cost.update({'statements': cost['statements'] + 1}) -%}
    {%- call statement('provenance_shapes', fetch_result=true, auto_begin=true) -%}
        {{ dbt_provenance.described_relations(relations) }}
    {%- endcall -%}
    {%- set found = load_result('provenance_shapes')['table'].rows -%}
    {%- set shapes = [] -%}
    {%- for relation in relations -%}
        {%- set place, shape = loop.index0, {'kind': none, 'columns': []} -%}
        {%- for row in found if row[0] | int == place -%}
            {%- do shape.update({'kind': row[1]}) -%}
            {%- do shape.columns.append(row[2]) -%}
        {%- endfor -%}
        {%- do shapes.append(shape) -%}
    {%- endfor -%}
    {{ return(shapes) }}
{%- endmacro %}

{#- One row per column: the relation's place in the list, table or view, the column's name. -#}
{% macro described_relations(relations) -%}
    {%- for relation in relations %}
    {{ 'union all ' if not loop.first -}}
    select {{ loop.index0 }}, case found.table_type when 'VIEW' then 'view' else 'table' end, lower(columns.column_name)
    from information_schema.tables as found
    inner join information_schema.columns as columns
        on columns.table_catalog = found.table_catalog and columns.table_schema = found.table_schema and columns.table_name = found.table_name
    where lower(found.table_catalog) = lower({{ dbt_provenance.literal(relation.database) }})
      and lower(found.table_schema) = lower({{ dbt_provenance.literal(relation.schema) }})
      and lower(found.table_name) = lower({{ dbt_provenance.literal(relation.identifier) }})
    {%- endfor %}
{%- endmacro %}

{#- In lower case. -#}
{% macro column_names(relation) -%}
    {%- set names = [] -%}
    {%- for column in adapter.get_columns_in_relation(relation) -%}
        {%- do names.append(column.name | lower) -%}
    {%- endfor -%}
    {{ return(names) }}
{%- endmacro %}
