{#- The name of another model of this package inside a statement.

    Unlike a bare ref(): no database (a DuckDB file attached under another name keeps its functions and views),
    and no `limit 0` under --empty (a function body would keep it, and evidence would be lost). One mart reads another as this invocation
    makes it, before readers do (materializations/mart.sql). -#}
{% macro relation(model_name) -%}
    {%- set relation = ref('dbt_provenance', model_name) -%}
    {%- if execute and model_name.startswith('prov_int_') and (model.name | string).startswith('prov_int_') and dbt_provenance.waits_for_its_build(model_name) -%}
        {{ return(dbt_provenance.unfinished(relation)) }}
    {%- endif -%}
    {{ return(dbt_provenance.name_of(relation)) }}
{%- endmacro %}

{#- With the database where the statement would not be understood without: a relation outside the profile's database, or a profile
    that builds in an attached one. -#}
{% macro name_of(relation) -%}
    {%- set home = target.database | lower -%}
    {%- set attached = [] -%}
    {%- for one in target.get('attach') or [] -%}{%- do attached.append(one.alias | lower) -%}{%- endfor -%}
    {{ return(relation.include(database=(relation.database | lower != home or home in attached)).render()) }}
{%- endmacro %}
