{#- on-run-end: what this invocation did, and the graph when the landing model was not part of it. It never fails a run: what could
    go wrong is looked at before anything is written, because Jinja cannot catch an error. -#}
{% macro record_run(results) -%}
    {%- if not execute or dbt_provenance.command_name(flags.WHICH) not in dbt_provenance.recorded_commands() -%}
        {{ return('') }}
    {%- endif -%}
    {%- do dbt_provenance.say_passed_over_switches() -%}
    {%- if not dbt_provenance.is_switched_on('hook') -%}{{ return('') }}{%- endif -%}
    {%- set begun = modules.datetime.datetime.now() -%}
    {%- set cost = dbt_provenance.no_cost_yet() -%}
    {%- set obstacle = dbt_provenance.preflight(cost) -%}
    {%- if obstacle -%}
        {%- do log('dbt_provenance: nothing recorded, ' ~ obstacle, info=true) -%}
        {{ return('') }}
    {%- endif -%}
    {%- set outcomes = dbt_provenance.results_as_json(results if results is defined and results else []) -%}
    {%- set recorded = dbt_provenance.record_outcomes(outcomes, not dbt_provenance.landing_was_run(results), cost) -%}
    {%- do adapter.commit() -%}
    {%- do dbt_provenance.say_what_was_recorded(outcomes | length, recorded, cost, begun) -%}
    {{ return('') }}
{%- endmacro %}

{#- Writes; gives how many resources changed, and the types that this engine does not give. The row of the run comes last: where an engine keeps no transaction over several statements
    (dbt 2), a run that is there is there whole. -#}
{% macro record_outcomes(outcomes, with_graph, cost) -%}
    {%- set raw = dbt_provenance.own_relation('prov_raw_resources') -%}
    {%- set changed = 0 -%}
    {%- if with_graph -%}
        {%- set before = dbt_provenance.count_rows(raw, cost) -%}
        {%- do dbt_provenance.capture_graph(raw, cost) -%}
        {%- set changed = dbt_provenance.count_rows(raw, cost) - before -%}
    {%- endif -%}
    {%- set unavailable = dbt_provenance.unavailable_types(raw, cost) | join(', ') -%}
    {%- do cost.update({'rows': cost['rows'] + changed}) -%}
    {%- if dbt_provenance.is_switched_on('results') -%}
        {%- do dbt_provenance.insert_results(outcomes, cost) -%}
        {%- do dbt_provenance.send(dbt_provenance.insert_run_statement(flags.WHICH, outcomes | length, unavailable), cost) -%}
        {%- do cost.update({'rows': cost['rows'] + 1}) -%}
    {%- endif -%}
    {{ return({'changed': changed, 'unavailable': unavailable}) }}
{%- endmacro %}

{% macro landing_was_run(results) -%}
    {%- for result in (results if results is defined and results else []) -%}
        {%- if result.node.unique_id == 'model.dbt_provenance.prov_raw_resources' and result.status | string == 'success' -%}
            {{ return(true) }}
        {%- endif -%}
    {%- endfor -%}
    {{ return(false) }}
{%- endmacro %}

{% macro count_rows(relation, cost=none) -%}
    {{ return(dbt_provenance.send('select count(*) from ' ~ dbt_provenance.name_of(relation), cost if cost is not none else dbt_provenance.no_cost_yet()).rows[0][0] | int) }}
{%- endmacro %}

{#- One line, with what it cost. The difference of two instants is taken of their seconds: dbt 2 cuts a span to whole ones. -#}
{% macro say_what_was_recorded(outcomes, recorded, cost, begun) -%}
    {%- set closed = dbt_provenance.closed_to_all(cost) -%}
    {%- set seconds = modules.datetime.datetime.now().timestamp() - begun.timestamp() -%}
    {%- do log('dbt_provenance: ' ~ outcomes ~ ' results and ' ~ recorded['changed'] ~ ' changed resources recorded after the run (' ~ cost['statements'] ~ ' statements, ' ~ cost['rows'] ~ ' rows, ' ~ '%.2f' | format(seconds) ~ ' s)' ~ dbt_provenance.unavailable_remark(recorded['unavailable']) ~ closed, info=true) -%}
{%- endmacro %}
