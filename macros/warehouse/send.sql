{#- Sends a statement and counts it: `cost` is a mapping with `statements` and `rows`, of which the hook tells at its end. -#}
{% macro send(statement, cost) -%}
    {%- do cost.update({'statements': cost['statements'] + 1}) -%}
    {{ return(run_query(statement)) }}
{%- endmacro %}

{% macro no_cost_yet() -%}
    {{ return({'statements': 0, 'rows': 0}) }}
{%- endmacro %}
