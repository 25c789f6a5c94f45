{#- A SQL function with named arguments as a node of the DAG; the model's SQL is its body, `meta.arguments` its arguments in
    order, as name -> default (an expression, or 'required'). Beside it stands a view of the same name that says how to call
    it: BI tools list views and not functions, and `dbt clone` asks for a relation. -#}
{% materialization provenance_function, default %}
    {%- set usage = this.incorporate(type='view') -%}
    {%- set arguments = config.get('meta', {}).get('arguments', []) -%}
    {%- call statement('main') -%}
        {{ dbt_provenance.create_function(this, arguments, sql) }}
    {%- endcall -%}
    {%- set names = [] -%}
    {%- for argument in arguments -%}
        {%- do names.append(argument.name if argument.default == 'required' else argument.name ~ ' => …') -%}
    {%- endfor -%}
    {%- call statement('usage') -%}
        create or replace view {{ dbt_provenance.name_of(this) }} as
        select {{ dbt_provenance.literal('select * from ' ~ dbt_provenance.name_of(this) ~ '(' ~ names | join(', ') ~ ')') }} as how_to_call
    {%- endcall -%}
    {%- do adapter.commit() -%}
    {{ return({'relations': [usage]}) }}
{% endmaterialization %}

{% macro create_function(relation, arguments, body) -%}
    {{ return(adapter.dispatch('create_function', 'dbt_provenance')(relation, arguments, body)) }}
{%- endmacro %}

{% macro duckdb__create_function(relation, arguments, body) -%}
    create or replace macro {{ dbt_provenance.name_of(relation) }}(
        {%- for argument in arguments %}
        {{ argument.name }}{{ '' if argument.default == 'required' else ' := ' ~ argument.default }}{{ ',' if not loop.last }}
        {%- endfor %}
    ) as table
    {{ body }}
{%- endmacro %}
