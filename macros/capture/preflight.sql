{#- What stands in the way of writing, as half a sentence with the way out; none when nothing does. -#}
{% macro preflight() -%}
    {{ return(adapter.dispatch('preflight', 'dbt_provenance')()) }}
{%- endmacro %}

{% macro default__preflight() -%}
    {{ return('the ' ~ target.type ~ ' adapter is not supported yet (DuckDB is); set the variable provenance_enabled to false to silence this line') }}
{%- endmacro %}

{% macro duckdb__preflight() -%}
    {%- set raw = dbt_provenance.own_relation('prov_raw_resources') -%}
    {%- if raw is not none and run_query('select bool_or(readonly) from duckdb_databases() where database_name = ' ~ dbt_provenance.literal(raw.database)).rows[0][0] -%}
        {{ return('the database is open read-only') }}
    {%- endif -%}
    {%- for model_name in ['prov_raw_resources', 'prov_raw_runs', 'prov_raw_run_results', 'prov_raw_freshness', 'prov_ledger'] -%}
        {%- set relation = dbt_provenance.own_relation(model_name) -%}
        {%- if relation is none -%}
            {{ return('its models are disabled') }}
        {%- endif -%}
        {%- set kind = dbt_provenance.kind_in_warehouse(relation) -%}
        {%- if kind is none -%}
            {{ return(relation.identifier ~ ' is not there yet; `dbt build --select package:dbt_provenance` creates it') }}
        {%- endif -%}
        {%- if kind != 'table' -%}
            {{ return(relation.identifier ~ ' is a view, as dbt clone makes it; `dbt build --select package:dbt_provenance` makes it a table') }}
        {%- endif -%}
        {%- set missing = dbt_provenance.missing_columns(relation, graph.nodes['model.dbt_provenance.' ~ model_name].columns) -%}
        {%- if missing -%}
            {{ return(relation.identifier ~ ' lacks ' ~ missing | join(', ') ~ '; `dbt build --select package:dbt_provenance` adds it') }}
        {%- endif -%}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro %}

{% macro missing_columns(relation, names) -%}
    {%- set present = dbt_provenance.column_names(relation) -%}
    {%- set missing = [] -%}
    {%- for name in names if name not in present -%}
        {%- do missing.append(name) -%}
    {%- endfor -%}
    {{ return(missing) }}
{%- endmacro %}

{#- In lower case. -#}
{% macro column_names(relation) -%}
    {%- set names = [] -%}
    {%- for column in adapter.get_columns_in_relation(relation) -%}
        {%- do names.append(column.name | lower) -%}
    {%- endfor -%}
    {{ return(names) }}
{%- endmacro %}
