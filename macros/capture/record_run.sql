{#- on-run-end: what this invocation did, and the graph when the landing model was not part of it. It never fails a run: what could
    go wrong is looked at before anything is written, because Jinja cannot catch an error. -#}
{% macro record_run(results) -%}
    {%- if not execute or not dbt_provenance.is_recorded_command() or not dbt_provenance.is_switched_on('hook') -%}
        {{ return('') }}
    {%- endif -%}
    {%- set begun = modules.datetime.datetime.now() -%}
    {%- set obstacle = dbt_provenance.preflight() -%}
    {%- if obstacle -%}
        {%- do log('dbt_provenance: nothing recorded, ' ~ obstacle, info=true) -%}
        {{ return('') }}
    {%- endif -%}
    {%- set raw = dbt_provenance.own_relation('prov_raw_resources') -%}
    {%- set before = dbt_provenance.count_rows(raw) -%}
    {%- set outcomes = dbt_provenance.results_as_json(results if results is defined and results else []) -%}
    {%- if dbt_provenance.is_switched_on('results') -%}
        {%- do dbt_provenance.insert_run(outcomes | length) -%}
        {%- do dbt_provenance.insert_results(outcomes) -%}
    {%- endif -%}
    {%- if not dbt_provenance.landing_was_run(results) -%}
        {%- do dbt_provenance.capture_graph(raw) -%}
    {%- endif -%}
    {%- set remark = dbt_provenance.record_unavailable(raw) -%}
    {%- do adapter.commit() -%}
    {%- do dbt_provenance.say_what_was_recorded(before, outcomes | length, begun, remark) -%}
    {{ return('') }}
{%- endmacro %}

{#- Core runs the hooks' Jinja on compile and docs generate, dbt 2 on compile and show: those record nothing. -#}
{% macro is_recorded_command() -%}
    {{ return(flags.WHICH in ['build', 'run', 'test', 'seed', 'snapshot', 'freshness', 'source-freshness', 'source freshness', 'retry', 'clone']) }}
{%- endmacro %}

{% macro landing_was_run(results) -%}
    {%- for result in (results if results is defined and results else []) -%}
        {%- if result.node.unique_id == 'model.dbt_provenance.prov_raw_resources' and result.status | string == 'success' -%}
            {{ return(true) }}
        {%- endif -%}
    {%- endfor -%}
    {{ return(false) }}
{%- endmacro %}

{% macro count_rows(relation) -%}
    {{ return(run_query('select count(*) from ' ~ dbt_provenance.name_of(relation)).rows[0][0] | int) }}
{%- endmacro %}

{% macro say_what_was_recorded(before, outcomes, begun, remark) -%}
    {%- set raw = dbt_provenance.own_relation('prov_raw_resources') -%}
    {%- set changed = dbt_provenance.count_rows(raw) - before -%}
    {%- set seconds = (modules.datetime.datetime.now() - begun).total_seconds() -%}
    {%- do log('dbt_provenance: ' ~ outcomes ~ ' results and ' ~ changed ~ ' changed resources recorded after the run (' ~ '%.2f' | format(seconds) ~ ' s)' ~ remark ~ dbt_provenance.closed_to_all(), info=true) -%}
{%- endmacro %}
