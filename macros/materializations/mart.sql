{#- A table that readers see only when all tables of the same build are ready: it is made beside the one that they read, under a name of its
    own, and prov_int_build, the last of them, puts all of them in place in one transaction. So a build that fails or is killed leaves the
    last complete state to be read. Selected without prov_int_build, a table is put in place by itself. -#}
{% materialization provenance_mart, default %}
    {%- set mart = this.incorporate(type='table') -%}
    {%- set waits = dbt_provenance.waits_for_its_build(model.name) -%}
    {%- if not waits and dbt_provenance.kind_in_warehouse(this) == 'view' -%}
        {%- do adapter.drop_relation(this.incorporate(type='view')) -%}
    {%- endif -%}
    {%- call statement('main') -%}
        create or replace table {{ dbt_provenance.unfinished(this) if waits else dbt_provenance.name_of(this) }} as
        {{ sql }}
    {%- endcall -%}
    {%- if waits and model.name == 'prov_int_build' -%}
        {%- do dbt_provenance.put_in_place() -%}
    {%- endif -%}
    {%- do adapter.commit() -%}
    {{ return({'relations': [mart]}) }}
{% endmaterialization %}

{#- Whether this invocation builds a mart and the last of them. -#}
{% macro waits_for_its_build(model_name) -%}
    {{ return('model.dbt_provenance.prov_int_build' in selected_resources and ('model.dbt_provenance.' ~ model_name) in selected_resources) }}
{%- endmacro %}

{#- The name under which a mart is made. -#}
{% macro unfinished(relation) -%}
    {{ return(dbt_provenance.beside(relation, relation.identifier ~ '__unfinished')) }}
{%- endmacro %}

{#- The tables that were made beside, for those that were read. dbt 2 keeps no transaction over several statements: there one text holds all. -#}
{% macro put_in_place() -%}
    {%- set marts, statements = dbt_provenance.marts(selected_resources), [] -%}
    {%- set shapes = dbt_provenance.shapes_of(marts, dbt_provenance.no_cost_yet()) -%}
    {%- for mart in marts -%}
        {%- set kind = shapes[loop.index0].kind -%}
        {%- if kind -%}{%- do statements.append('drop ' ~ kind ~ ' ' ~ dbt_provenance.name_of(mart)) -%}{%- endif -%}
        {%- do statements.append('alter table ' ~ dbt_provenance.unfinished(mart) ~ ' rename to ' ~ adapter.quote(mart.identifier)) -%}
    {%- endfor -%}
    {%- if dbt_version[:2] == '2.' -%}
        {%- do run_query('begin transaction; ' ~ statements | join('; ') ~ '; commit') -%}
    {%- else -%}
        {%- for statement in statements -%}{%- do run_query(statement) -%}{%- endfor -%}
    {%- endif -%}
{%- endmacro %}

{#- The relations of these tables, where they are enabled: of all, or of some by unique_id. -#}
{% macro marts(unique_ids=none) -%}
    {%- set found = [] -%}
    {%- for unique_id in graph.nodes if unique_id.startswith('model.dbt_provenance.prov_int_') and (unique_ids is none or unique_id in unique_ids) -%}
        {%- do found.append(dbt_provenance.own_relation(unique_id.split('.')[2])) -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro %}

{#- Drops what a build that broke off has left. -#}
{% macro drop_unfinished() -%}
    {%- for mart in dbt_provenance.marts() -%}{%- do run_query('drop table if exists ' ~ dbt_provenance.unfinished(mart)) -%}{%- endfor -%}
{%- endmacro %}
