{#- Retention: `dbt run-operation prune` says what `provenance_retention_days` (runs, run_results, freshness -> days) would remove, and with
    `--args '{apply: true}'` removes it, in this project and target. Nothing else removes a row. Definitions and the ledger are never
    pruned: their history is what the package is for. What always stays: the last result of a node for each status and the last
    observation of a source for each, a run of which something stays, and all that `provenance_legal_hold` names. -#}
{% macro prune(apply=false) -%}
    {%- set obstacle = dbt_provenance.preflight() -%}
    {%- if obstacle -%}{%- do exceptions.raise_compiler_error('dbt_provenance: ' ~ obstacle) -%}{%- endif -%}
    {%- set days = dbt_provenance.retention_days() -%}
    {%- set held = dbt_provenance.held_resources() -%}
    {%- if held is none or not days -%}
        {%- do log('dbt_provenance: nothing removed, ' ~ ('provenance_legal_hold is on' if held is none else 'provenance_retention_days is not set'), info=true) -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set told, total = [], namespace(rows=0) -%}
    {%- for kind in ['run_results', 'freshness', 'runs'] if kind in days -%}
        {%- set relation = dbt_provenance.own_name(dbt_provenance.prunable()[kind]) -%}
        {%- set condition = dbt_provenance.removable_rows(kind, days, held) -%}
        {%- set rows = dbt_provenance.values_of('select count(*) from ' ~ relation ~ ' where ' ~ condition)[0] | int -%}
        {%- do told.append(rows ~ ' of ' ~ kind ~ ' older than ' ~ days[kind] ~ ' days') -%}
        {%- set total.rows = total.rows + rows -%}
        {%- if apply and rows -%}{%- do run_query('delete from ' ~ relation ~ ' where ' ~ condition) -%}{%- endif -%}
    {%- endfor -%}
    {%- if apply and total.rows -%}{%- do run_query(dbt_provenance.insert_run_statement('prune', total.rows)) -%}{%- endif -%}
    {%- do adapter.commit() -%}
    {%- do log('dbt_provenance: ' ~ ('removed ' if apply else 'would remove ') ~ told | join(', ') ~ ('; ' ~ held | length ~ ' resources are held' if held else '') ~ ('' if apply else "; --args '{apply: true}' removes them"), info=true) -%}
{%- endmacro %}

{#- What may be pruned: the name in `provenance_retention_days` -> the relation. -#}
{% macro prunable() -%}
    {{ return({'runs': 'prov_raw_runs', 'run_results': 'prov_raw_run_results', 'freshness': 'prov_raw_freshness'}) }}
{%- endmacro %}

{#- Days by name; raises for what it cannot read, so that nothing is removed by mistake. -#}
{% macro retention_days() -%}
    {%- set given = var('provenance_retention_days', {}) or {} -%}
    {%- set known = dbt_provenance.prunable() | list -%}
    {%- set days = {} -%}
    {%- if given is not mapping -%}
        {%- do exceptions.raise_compiler_error('dbt_provenance: nothing removed, provenance_retention_days is no mapping of ' ~ known | join(', ') ~ ' to days') -%}
    {%- endif -%}
    {%- for kind, number in given.items() -%}
        {%- if kind not in known -%}
            {%- do exceptions.raise_compiler_error('dbt_provenance: nothing removed, provenance_retention_days names ' ~ kind ~ '; only ' ~ known | join(', ') ~ ' are ever removed') -%}
        {%- elif number is boolean or not (number | string).isdigit() or number | int < 1 -%}
            {%- do exceptions.raise_compiler_error('dbt_provenance: nothing removed, ' ~ number ~ ' for ' ~ kind ~ ' in provenance_retention_days is no whole number of days, 1 or more') -%}
        {%- endif -%}
        {%- do days.update({kind: number | int}) -%}
    {%- endfor -%}
    {{ return(days) }}
{%- endmacro %}

{#- The unique_ids that `provenance_legal_hold` keeps: of the ids, entities or names that it lists; none when it holds everything. A name
    that nothing answers to raises: it may be a slip. -#}
{% macro held_resources() -%}
    {%- set hold = var('provenance_legal_hold', false) -%}
    {%- set word = hold | string | lower -%}
    {%- if word in ['true', 'false', 'none', '', '[]'] -%}{{ return(none if word == 'true' else []) }}{%- endif -%}
    {%- set names, held = ([hold] if hold is string else hold), [] -%}
    {%- if hold is not string and (hold is mapping or hold is not iterable) -%}
        {%- do exceptions.raise_compiler_error('dbt_provenance: nothing removed, provenance_legal_hold is neither true nor false nor a list of names') -%}
    {%- endif -%}
    {%- for name in names -%}
        {%- set found = dbt_provenance.values_of(dbt_provenance.resources_called(name | string)) -%}
        {%- if not found -%}
            {%- do exceptions.raise_compiler_error('dbt_provenance: nothing removed, provenance_legal_hold names ' ~ name ~ ', and nothing is called that') -%}
        {%- endif -%}
        {%- do held.extend(found) -%}
    {%- endfor -%}
    {{ return(held) }}
{%- endmacro %}

{#- A select of the unique_ids that answer to an id, an entity or a name of it. -#}
{% macro resources_called(name) -%}
    {%- set text = dbt_provenance.literal(name) -%}
    select distinct unique_id from {{ dbt_provenance.own_name('prov_raw_resources') }} where unique_id = {{ text }}
    union
    select nodes.unique_id
    from {{ dbt_provenance.own_name('prov_int_names') }} as names
    inner join {{ dbt_provenance.own_name('prov_int_nodes') }} as nodes on nodes.entity_id = names.entity_id
    where names.tier <= 3 and names.term = lower(trim({{ text }}))
{%- endmacro %}

{#- The condition on a relation's rows that may go. -#}
{% macro removable_rows(kind, days, held) -%}
    {%- set scope -%}
        project_name = {{ dbt_provenance.literal(project_name) }} and target_name = {{ dbt_provenance.literal(target.name) }}
        and recorded_at_utc < {{ dbt_provenance.days_ago(days[kind]) }}
    {%- endset -%}
    {%- if kind == 'runs' -%}
        {{ scope }} and coalesce(command, '') <> 'prune'
        and recorded_at_utc < (select max(recorded_at_utc) from {{ dbt_provenance.own_name('prov_raw_runs') }})
        {%- for other in ['run_results', 'freshness'] %}
        and invocation_id not in (
            select invocation_id from {{ dbt_provenance.own_name(dbt_provenance.prunable()[other]) }}
            where invocation_id is not null{% if other in days %} and not ({{ dbt_provenance.removable_rows(other, days, held) }}){% endif %}
        )
        {%- endfor -%}
    {%- else -%}
        {{ scope }} {{ 'and unique_id not in (' ~ dbt_provenance.quoted(held) ~ ')' if held }}
        and (invocation_id, unique_id) in ({{ dbt_provenance.rows_that_have_a_later(kind) }})
    {%- endif -%}
{%- endmacro %}

{#- A select of the rows after which the same node came to the same status again; what ran with --empty counts apart. -#}
{% macro rows_that_have_a_later(kind) -%}
    {%- set status = 'run_status' if kind == 'run_results' else 'observed_status' -%}
    {%- set moment = 'found.recorded_at_utc' if kind == 'run_results' else 'coalesce(found.snapshotted_at_utc, found.recorded_at_utc)' -%}
    select invocation_id, unique_id
    from (
        select found.invocation_id, found.unique_id, {{ moment }} as moment_utc, max({{ moment }}) over (
            partition by found.project_name, found.target_name, found.unique_id, found.{{ status }}, coalesce(runs.is_empty, false)
        ) as last_utc
        from {{ dbt_provenance.own_name(dbt_provenance.prunable()[kind]) }} as found
        left join {{ dbt_provenance.own_name('prov_raw_runs') }} as runs on runs.invocation_id = found.invocation_id
    ) as timed
    where moment_utc < last_utc
{%- endmacro %}

{% macro days_ago(days) -%}
    {{ return(dbt_provenance.utc_now() ~ " - interval '" ~ days ~ "' day") }}
{%- endmacro %}
