{#- Each result as JSON. Only what dbt says of the node is kept, never arguments, variables or the environment. -#}
{% macro results_as_json(results) -%}
    {%- set rows = [] -%}
    {%- for result in results -%}
        {%- set span = namespace(started=none, finished=none) -%}
        {%- for step in result.timing or [] -%}
            {%- if step.name == 'execute' -%}
                {%- set span.started = step.started_at | string -%}
                {%- set span.finished = step.completed_at | string -%}
            {%- endif -%}
        {%- endfor -%}
        {%- set response = result.adapter_response if result.adapter_response is mapping else {} -%}
        {%- set rows_affected = response.get('rows_affected') -%}
        {%- set row = {
            'unique_id': result.node.unique_id,
            'status': result.status | string,
            'seconds': result.execution_time,
            'message': dbt_provenance.kept_message(result.status | string, result.message | string) if result.message else none,
            'failures': result.failures if result.failures is number else none,
            'rows_affected': rows_affected if rows_affected is number else none,
            'relation_name': result.node.relation_name or none,
            'started': span.started,
            'finished': span.finished,
        } -%}
        {#- with --empty nothing was read -#}
        {%- if result.node.resource_type == 'source' and not flags.EMPTY -%}
            {%- do row.update(dbt_provenance.freshness_as_json(result)) -%}
        {%- endif -%}
        {%- do rows.append(row) -%}
    {%- endfor -%}
    {{ return(rows) }}
{%- endmacro %}

{#- What is kept of dbt's words on a result: their first line, and of an error its kind alone. What the warehouse or the project says to
    it can repeat values of --vars and of the environment (dbt Core lists all variables where one is missing), which are never stored; so
    can the limit of a test. dbt's log has all of it. The twin in Python is capture/messages.py. -#}
{% macro kept_message(status, message) -%}
    {%- set lines = message.strip().split('\n') -%}
    {%- if 'error' not in status | lower -%}
        {{ return(lines[0].split(', configured to ')[0]) }}
    {%- endif -%}
    {%- if lines[0].startswith('Failed to render SQL') -%}{{ return('Compilation Error') }}{%- endif -%}
    {%- set kind = lines[0].split(':')[0].split(' in ')[0].split(' for ')[0] -%}
    {%- if not kind.endswith(' Error') or kind | length > 40 -%}{{ return('Error') }}{%- endif -%}
    {%- set of_warehouse = lines[1].strip().split(':')[0] if kind in ['Database Error', 'Runtime Error'] and lines | length > 1 else '' -%}
    {{ return(kind ~ (': ' ~ of_warehouse if of_warehouse.endswith(' Error') and of_warehouse | length <= 40 else '')) }}
{%- endmacro %}

{#- What `dbt source freshness` measured. Which expression gave the time is the source's own configuration: of a query and a field dbt takes
    the query. For a source without rows dbt Core gives the first instant of the year 1, dbt 2 that of 1970. -#}
{% macro freshness_as_json(result) -%}
    {%- set of_no_rows = '1970-01-01T00:00:00Z' if dbt_version[:2] == '2.' else '0001-01-01' -%}
    {%- set has_rows = result.max_loaded_at and not (result.max_loaded_at | string).startswith(of_no_rows) -%}
    {%- set policy = result.node.freshness -%}
    {%- set warn = policy.warn_after if policy else none -%}
    {%- set error = policy.error_after if policy else none -%}
    {{ return({
        'observed': true,
        'max_loaded_at': result.max_loaded_at | string if has_rows else none,
        'snapshotted_at': result.snapshotted_at | string if result.snapshotted_at else none,
        'age': result.age if has_rows and result.age is number else none,
        'warn_count': warn.count if warn else none,
        'warn_period': warn.period | string if warn and warn.period else none,
        'error_count': error.count if error else none,
        'error_period': error.period | string if error and error.period else none,
        'filter': policy.filter if policy and policy.filter else none,
        'method': 'loaded_at_query' if result.node.loaded_at_query else ('loaded_at_field' if result.node.loaded_at_field else 'metadata'),
    }) }}
{%- endmacro %}

{#- The row of this invocation. -#}
{% macro insert_run_statement(command, results_total, unavailable='') -%}
    insert into {{ dbt_provenance.name_of(dbt_provenance.own_relation('prov_raw_runs')) }} (
        invocation_id, project_name, target_name, target_schema, command, dbt_version, adapter_type, started_at_utc, finished_at_utc,
        full_refresh, is_empty, results_total, unavailable_types, recorded_at_utc, capture_source
    )
    select
        {{ dbt_provenance.literal(invocation_id) }},
        {{ dbt_provenance.literal(project_name) }},
        {{ dbt_provenance.literal(target.name) }},
        {{ dbt_provenance.literal(target.schema) }},
        {{ dbt_provenance.literal(command) }},
        {{ dbt_provenance.literal(dbt_version) }},
        {{ dbt_provenance.literal(target.type) }},
        cast({{ dbt_provenance.literal(run_started_at.astimezone(modules.pytz.utc).strftime('%Y-%m-%d %H:%M:%S.%f')) }} as timestamp),
        {{ dbt_provenance.utc_now() }},
        {{ 'true' if flags.FULL_REFRESH else 'false' }},
        {{ 'true' if flags.EMPTY else 'false' }},
        {{ results_total }},
        {{ dbt_provenance.literal(unavailable or none) }},
        {{ dbt_provenance.utc_now() }},
        'hook'
{%- endmacro %}

{#- Run results, and freshness observations from the same rows, in batches under the byte bound. -#}
{% macro insert_results(rows, cost) -%}
    {%- set texts = [] -%}
    {%- for row in rows -%}
        {%- set text = tojson(row, sort_keys=true) -%}
        {%- if text is not none -%}{%- do texts.append(text) -%}{%- endif -%}
    {%- endfor -%}
    {%- set observed = rows | selectattr('observed', 'defined') | list | length if dbt_provenance.is_switched_on('freshness') else 0 -%}
    {%- for batch in dbt_provenance.bounded_batches(texts) -%}
        {%- set literal = dbt_provenance.literal('[' ~ batch | join(',') ~ ']') -%}
        {%- do dbt_provenance.send(adapter.dispatch('insert_results_statement', 'dbt_provenance')(literal), cost) -%}
        {%- if observed -%}
            {%- do dbt_provenance.send(adapter.dispatch('insert_freshness_statement', 'dbt_provenance')(literal), cost) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do cost.update({'rows': cost['rows'] + texts | length + observed}) -%}
{%- endmacro %}

{% macro duckdb__insert_results_statement(rows) -%}
    insert into {{ dbt_provenance.name_of(dbt_provenance.own_relation('prov_raw_run_results')) }} (
        invocation_id, project_name, target_name, unique_id, run_status, execution_seconds, message_text, failures, rows_affected,
        started_at_utc, finished_at_utc, relation_name, recorded_at_utc
    )
    select
        {{ dbt_provenance.literal(invocation_id) }},
        {{ dbt_provenance.literal(project_name) }},
        {{ dbt_provenance.literal(target.name) }},
        json_extract_string(result, '$.unique_id'),
        json_extract_string(result, '$.status'),
        try_cast(json_extract_string(result, '$.seconds') as double),
        json_extract_string(result, '$.message'),
        try_cast(json_extract_string(result, '$.failures') as bigint),
        try_cast(json_extract_string(result, '$.rows_affected') as bigint),
        try_cast(json_extract_string(result, '$.started') as timestamp),
        try_cast(json_extract_string(result, '$.finished') as timestamp),
        json_extract_string(result, '$.relation_name'),
        {{ dbt_provenance.utc_now() }}
    from (select unnest(json_extract({{ rows }}, '$[*]')) as result)
{%- endmacro %}

{% macro duckdb__insert_freshness_statement(rows) -%}
    insert into {{ dbt_provenance.name_of(dbt_provenance.own_relation('prov_raw_freshness')) }} (
        invocation_id, project_name, target_name, unique_id, observed_status, max_loaded_at_utc, snapshotted_at_utc, age_seconds,
        warn_after_count, warn_after_period, error_after_count, error_after_period, filter_text, error_text, observation_method,
        recorded_at_utc
    )
    select
        {{ dbt_provenance.literal(invocation_id) }},
        {{ dbt_provenance.literal(project_name) }},
        {{ dbt_provenance.literal(target.name) }},
        json_extract_string(result, '$.unique_id'),
        -- a time that cannot be read is kept as a text, and is no time
        case when unread is null then json_extract_string(result, '$.status') else 'parse error' end,
        max_loaded_at_utc,
        snapshotted_at_utc,
        try_cast(json_extract_string(result, '$.age') as double),
        try_cast(json_extract_string(result, '$.warn_count') as integer),
        json_extract_string(result, '$.warn_period'),
        try_cast(json_extract_string(result, '$.error_count') as integer),
        json_extract_string(result, '$.error_period'),
        json_extract_string(result, '$.filter'),
        coalesce(unread, json_extract_string(result, '$.message')),
        json_extract_string(result, '$.method'),
        {{ dbt_provenance.utc_now() }}
    from (
        select
            *,
            nullif(concat_ws('; ',
                case when json_extract_string(result, '$.max_loaded_at') is not null and max_loaded_at_utc is null then 'max_loaded_at: ' || json_extract_string(result, '$.max_loaded_at') end,
                case when json_extract_string(result, '$.snapshotted_at') is not null and snapshotted_at_utc is null then 'snapshotted_at: ' || json_extract_string(result, '$.snapshotted_at') end
            ), '') as unread
        from (
            select
                result,
                {{ dbt_provenance.utc_from_text("json_extract_string(result, '$.max_loaded_at')") }} as max_loaded_at_utc,
                {{ dbt_provenance.utc_from_text("json_extract_string(result, '$.snapshotted_at')") }} as snapshotted_at_utc
            from (select unnest(json_extract({{ rows }}, '$[*]')) as result)
            where json_extract_string(result, '$.observed') = 'true'
        ) as timed
    ) as read_times
{%- endmacro %}
