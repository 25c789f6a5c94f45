{#- The greatest number given so far, as an expression: what is appended counts on from it. Right while one transaction at a time appends, as
    in a DuckDB file (one process writes, and one invocation of dbt at a time in it); a warehouse where several do has a lock or a sequence in
    its variant. -#}
{% macro last_number(relation, column) -%}
    {{ return(adapter.dispatch('last_number', 'dbt_provenance')(relation, column)) }}
{%- endmacro %}

{% macro duckdb__last_number(relation, column) -%}
    {{ return('(select coalesce(max(' ~ column ~ '), 0) from ' ~ dbt_provenance.name_of(relation) ~ ')') }}
{%- endmacro %}
