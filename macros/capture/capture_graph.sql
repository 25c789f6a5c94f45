{#- Appends to the landing relation what changed in `graph`: a row for each resource whose canonical document differs from
    the open one, a closing row for each that is gone. Only inside this project and target. When nothing differs from what is open, one
    statement is all that is sent. -#}
{% macro capture_graph(landing, cost=none) -%}
    {%- if not dbt_provenance.is_switched_on('capture') -%}{{ return(none) }}{%- endif -%}
    {%- set cost = cost if cost is not none else dbt_provenance.no_cost_yet() -%}
    {%- set found = dbt_provenance.compare_graph(landing, cost) -%}
    {%- if found.changed or found.gone or found.others -%}
        {%- set seen = dbt_provenance.create_capture_table(landing, cost) -%}
        {%- do dbt_provenance.stage_graph(landing, seen, found, cost) -%}
        {%- do dbt_provenance.send(dbt_provenance.append_changes(landing, seen, found.sections), cost) -%}
        {%- do dbt_provenance.send('drop table ' ~ seen, cost) -%}
    {%- endif -%}
{%- endmacro %}

{#- The sections of `graph` and the resource types in each. -#}
{% macro graph_sections() -%}
    {{ return({
        'nodes': ['model', 'seed', 'snapshot', 'analysis', 'test', 'operation', 'sql_operation', 'rpc'],
        'sources': ['source'],
        'exposures': ['exposure'],
        'groups': ['group'],
        'metrics': ['metric'],
        'semantic_models': ['semantic_model'],
        'saved_queries': ['saved_query'],
        'functions': ['function'],
        'unit_tests': ['unit_test'],
    }) }}
{%- endmacro %}

{#- What of `graph` differs from the open rows: `changed`, as JSON; `gone`, ids; `others`, how many open rows of the same types were not
    captured from a graph, so that only the warehouse can compare them; and the sections. One that this engine does not provide, or that is
    switched off, is left out ("unavailable" is not "empty"). -#}
{% macro compare_graph(landing, cost) -%}
    {%- set off = dbt_provenance.switched_off().parts -%}
    {%- set sections, types, there, changed = [], [], {}, [] -%}
    {%- for section, resource_types in dbt_provenance.graph_sections().items() if section not in off and graph.get(section) is mapping -%}
        {%- do sections.append(section) -%}
        {%- do types.extend(resource_types) -%}
    {%- endfor -%}
    {%- set open = dbt_provenance.send(dbt_provenance.open_digests(landing, types), cost).rows[0] -%}
    {%- set digests = fromjson(open[0]) -%}
    {%- for section in sections -%}
        {%- set resources = dbt_provenance.whole_resources(graph[section]) -%}
        {%- do there.update(resources) -%}
        {%- do changed.extend(dbt_provenance.changed_rows(resources, digests)) -%}
    {%- endfor -%}
    {{ return({'sections': sections, 'changed': changed, 'gone': digests | reject('in', there) | list, 'others': open[1] | int, 'any_open': digests | length > 0}) }}
{%- endmacro %}

{#- Fills the table of what was seen: with what is new or changed, in statements under the byte bound, and from the open rows with what is
    still the same, which is not sent again. -#}
{% macro stage_graph(landing, seen, found, cost) -%}
    {%- for batch in dbt_provenance.bounded_batches(found.changed) -%}
        {%- if batch | length == 1 and dbt_provenance.most_bytes(batch[0]) > dbt_provenance.statement_bound() -%}
            {%- do dbt_provenance.stage_in_pieces(seen, batch[0], cost) -%}
        {%- else -%}
            {%- do dbt_provenance.send(dbt_provenance.insert_staged(seen, batch), cost) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if found.any_open -%}
        {%- do dbt_provenance.send(dbt_provenance.insert_unchanged(landing, seen), cost) -%}
        {%- for gone in dbt_provenance.bounded_batches(found.gone) -%}
            {%- do dbt_provenance.send(dbt_provenance.delete_staged(seen, gone), cost) -%}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro %}

{#- Each resource that differs from its open row, as JSON: its id, its document, and beside it what is not part of the hash.
    Whether it differs is known by a digest of the document's text as this engine writes it, kept in the open row; another engine's
    fits nothing, then all is sent and the warehouse compares hashes. It begins with the id of the invocation that wrote the row:
    nobody can have two texts of one digest ready. -#}
{% macro changed_rows(resources, digests) -%}
    {%- set documents = dbt_provenance.canonical_documents(resources) -%}
    {%- set rows, as_text, md5 = [], tojson, local_md5 -%}
    {%- for unique_id, resource in resources | items -%}
        {#- A value that JSON cannot hold (tojson gives none): the resource is kept, without what cannot be told. -#}
        {%- set text = as_text(documents[unique_id], sort_keys=true) or as_text({
            'name': resource['name'], 'resource_type': resource['resource_type'], 'capture_error': 'a value of this resource has no form in JSON'}, sort_keys=true) -%}
        {%- set digest = digests[unique_id] if unique_id in digests else none -%}
        {%- if not digest or digest[1] != md5(digest[0] ~ text) -%}
            {%- do rows.append('{"unique_id": ' ~ as_text(unique_id) ~ ', "document": ' ~ text ~ ', "location": ' ~ as_text(dbt_provenance.location_document(resource, text)) ~ '}') -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(rows) }}
{%- endmacro %}

{% macro location_document(resource, text) -%}
    {%- set checksum = resource['checksum'] -%}
    {{ return({
        'package_name': resource['package_name'] or none,
        'original_file_path': dbt_provenance.package_path(resource['original_file_path']),
        'checksum': (checksum['checksum'] if checksum is mapping else checksum) or none,
        'digest': [invocation_id, local_md5(invocation_id ~ text)],
    }) }}
{%- endmacro %}

{#- A path with forward slashes from the package's own root: dbt 2 puts the install folder in front. A backslash beside forward slashes is
    part of a name; Windows has it alone. -#}
{% macro package_path(path) -%}
    {%- if not path -%}{{ return(none) }}{%- endif -%}
    {%- set path = path | string -%}
    {%- set parts = (path if '/' in path else path | replace('\\', '/')).split('/') -%}
    {{ return((parts[2:] if parts[0] == 'dbt_packages' else parts) | join('/')) }}
{%- endmacro %}

{#- The bytes that the values of one statement may take: 2000 are left for the rest of it. -#}
{% macro statement_bound() -%}
    {{ return([(var('provenance_statement_bytes', 500000) | int) - 2000, 1000] | max) }}
{%- endmacro %}

{#- What a text may take in a literal, at most: Jinja counts characters, of which one has up to four bytes; a quote is doubled. -#}
{% macro most_bytes(text) -%}
    {{ return((text | length) * (1 if text.isascii() else 4) + text.count("'")) }}
{%- endmacro %}

{#- A resource whose row is longer than a statement may be: sent piece by piece into a row without an id, and read from there. -#}
{% macro stage_in_pieces(seen, row, cost) -%}
    {%- set size = dbt_provenance.statement_bound() // (2 if row.isascii() else 4) -%}
    {%- do dbt_provenance.send('insert into ' ~ seen ~ " (unique_id, document) values ('', '[')", cost) -%}
    {%- for start in range(0, row | length, size) -%}
        {%- do dbt_provenance.send('update ' ~ seen ~ ' set document = document || ' ~ dbt_provenance.literal(row[start:start + size]) ~ " where unique_id = ''", cost) -%}
    {%- endfor -%}
    {%- do dbt_provenance.send(dbt_provenance.insert_staged_from(seen, '(select pieces.document || ' ~ dbt_provenance.literal(']') ~ ' from ' ~ seen ~ " as pieces where pieces.unique_id = '')"), cost) -%}
    {%- do dbt_provenance.send('delete from ' ~ seen ~ " where unique_id = ''", cost) -%}
{%- endmacro %}

{#- Texts in lists of which each makes one statement under the byte bound, with four bytes for the marks between two texts; a text that is
    longer by itself stands alone. -#}
{% macro bounded_batches(texts) -%}
    {%- set bound = dbt_provenance.statement_bound() -%}
    {%- set batches = [] -%}
    {%- set batch = namespace(texts=[], bytes=0) -%}
    {%- for text in texts -%}
        {#- as most_bytes: a macro call for each text would cost more than the rest -#}
        {%- set bytes = (text | length) * (1 if text.isascii() else 4) + text.count("'") + 4 -%}
        {%- if batch.texts and batch.bytes + bytes > bound -%}
            {%- do batches.append(batch.texts) -%}
            {%- set batch.texts = [] -%}
            {%- set batch.bytes = 0 -%}
        {%- endif -%}
        {%- do batch.texts.append(text) -%}
        {%- set batch.bytes = batch.bytes + bytes -%}
    {%- endfor -%}
    {{ return(batches + [batch.texts] if batch.texts else batches) }}
{%- endmacro %}

{% macro insert_staged(seen, batch) -%}
    {{ return(dbt_provenance.insert_staged_from(seen, dbt_provenance.literal('[' ~ batch | join(',') ~ ']'))) }}
{%- endmacro %}

{#- From an expression that gives rows as one JSON list. -#}
{% macro insert_staged_from(seen, rows) -%}
    {{ return(adapter.dispatch('insert_staged_from', 'dbt_provenance')(seen, rows)) }}
{%- endmacro %}

{#- The warehouse writes the document's text: so the hash is over one form, whatever the engine escapes in tojson. -#}
{% macro duckdb__insert_staged_from(seen, rows) -%}
    insert into {{ seen }}
    with staged as (
        select unnest(json_extract({{ rows }}, '$[*]')) as resource
    )
    select
        json_extract_string(resource, '$.unique_id'),
        cast(json_extract(resource, '$.document') as varchar),
        sha256(cast(json_extract(resource, '$.document') as varchar)),
        cast(json_extract(resource, '$.location') as varchar)
    from staged
{%- endmacro %}

{#- One row, of some types of resource: a JSON object of what this project and target have open from `graph`, unique_id ->
    [invocation_id, digest]; and how many open rows were not captured from one. -#}
{% macro open_digests(landing, types) -%}
    {{ return(adapter.dispatch('open_digests', 'dbt_provenance')(landing, types)) }}
{%- endmacro %}

{% macro duckdb__open_digests(landing, types) -%}
    with open_rows as (
        select * from ({{ dbt_provenance.open_rows(landing) }}) as every_type where resource_type in ({{ dbt_provenance.quoted(types or ['']) }})
    )
    select
        (select cast(coalesce(json_group_object(unique_id, digest), '{}') as varchar) from open_rows where digest is not null),
        (select count(*) from open_rows where digest is null)
{%- endmacro %}

{#- The rows that this project and target have open, with the digest of those that were written from `graph`. -#}
{% macro open_rows(landing) -%}
    {{ return(adapter.dispatch('open_rows', 'dbt_provenance')(landing)) }}
{%- endmacro %}

{% macro duckdb__open_rows(landing) -%}
    select unique_id, resource_type, document_hash, location, json_extract(location, '$.digest') as digest
    from (
        select unique_id, resource_type, change_kind, document_hash, location
        from {{ dbt_provenance.name_of(landing) }}
        where project_name = {{ dbt_provenance.literal(project_name) }}
          and target_name = {{ dbt_provenance.literal(target.name) }}
        qualify row_number() over (partition by unique_id order by raw_id desc) = 1
    ) as newest
    where change_kind = 'open'
{%- endmacro %}

{% macro insert_unchanged(landing, seen) -%}
    insert into {{ seen }}
    select open_rows.unique_id, null, open_rows.document_hash, open_rows.location
    from ({{ dbt_provenance.open_rows(landing) }}) as open_rows
    where open_rows.digest is not null
      and open_rows.unique_id not in (select sent.unique_id from {{ seen }} as sent)
{%- endmacro %}

{% macro delete_staged(seen, unique_ids) -%}
    {%- set literals = [] -%}
    {%- for unique_id in unique_ids -%}{%- do literals.append(dbt_provenance.literal(unique_id)) -%}{%- endfor -%}
    delete from {{ seen }} where unique_id in ({{ literals | join(', ') }})
{%- endmacro %}
