{#- The name of another model of this package inside a statement.

    Unlike a bare ref(): no database (a DuckDB file attached under another name keeps its functions and views),
    and no `limit 0` under --empty (a function body would keep it, and evidence would be lost). -#}
{% macro relation(model_name) -%}
    {{ return(dbt_provenance.name_of(ref('dbt_provenance', model_name))) }}
{%- endmacro %}

{#- With the database where the statement would not be understood without: a relation outside the profile's database, or a profile
    that builds in an attached one. -#}
{% macro name_of(relation) -%}
    {%- set home = target.database | lower -%}
    {%- set attached = [] -%}
    {%- for one in target.get('attach') or [] -%}{%- do attached.append(one.alias | lower) -%}{%- endfor -%}
    {{ return(relation.include(database=(relation.database | lower != home or home in attached)).render()) }}
{%- endmacro %}
