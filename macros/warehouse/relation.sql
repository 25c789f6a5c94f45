{#- The name of another model of this package inside a statement.

    Unlike a bare ref(): no database (a DuckDB file attached under another name keeps its functions and views),
    and no `limit 0` under --empty (a function body would keep it, and evidence would be lost). -#}
{% macro relation(model_name) -%}
    {{ return(dbt_provenance.name_of(ref('dbt_provenance', model_name))) }}
{%- endmacro %}

{% macro name_of(relation) -%}
    {{ return(relation.include(database=false).render()) }}
{%- endmacro %}
