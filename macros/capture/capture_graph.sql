{#- Appends to the landing relation what changed in `graph`: a row for each resource whose canonical document differs from
    the open one, a closing row for each that is gone. Only inside this project and target. -#}
{% macro capture_graph(landing) -%}
    {%- if not dbt_provenance.is_switched_on('capture') -%}{{ return(none) }}{%- endif -%}
    {%- set seen = dbt_provenance.create_capture_table(landing) -%}
    {%- set sections = dbt_provenance.stage_graph(seen) -%}
    {%- do run_query(dbt_provenance.append_changes(landing, seen, sections)) -%}
    {%- do run_query('drop table ' ~ seen) -%}
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

{#- Renders each resource once and inserts them in batches that stay under the byte bound. Gives section -> count; a section that
    this engine does not provide is left out ("unavailable" is not "empty"). -#}
{% macro stage_graph(seen) -%}
    {%- set keys = dbt_provenance.canonical_keys() -%}
    {%- set bound = var('provenance_statement_bytes', 500000) | int -%}
    {%- set sections = {} -%}
    {%- set batch = [] -%}
    {%- set size = namespace(bytes=0) -%}
    {%- for section in dbt_provenance.graph_sections() -%}
        {%- set resources = graph.get(section) -%}
        {%- if resources is mapping -%}
            {%- do sections.update({section: resources | length}) -%}
            {%- for unique_id, resource in resources.items() -%}
                {%- set row = dbt_provenance.staged_row(unique_id, resource, keys) -%}
                {%- if size.bytes > 0 and size.bytes + (row | length) > bound -%}
                    {%- do run_query(dbt_provenance.insert_staged(seen, batch)) -%}
                    {%- do batch.clear() -%}
                    {%- set size.bytes = 0 -%}
                {%- endif -%}
                {%- do batch.append(row) -%}
                {%- set size.bytes = size.bytes + (row | length) -%}
            {%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if batch -%}
        {%- do run_query(dbt_provenance.insert_staged(seen, batch)) -%}
    {%- endif -%}
    {{ return(sections) }}
{%- endmacro %}

{#- One resource as JSON: its id, its document, and beside it what is not part of the hash. -#}
{% macro staged_row(unique_id, resource, keys) -%}
    {%- set resource = dbt_provenance.whole_resource(resource) -%}
    {%- set checksum = resource.get('checksum') or {} -%}
    {%- set row = tojson({
        'unique_id': unique_id,
        'document': dbt_provenance.canonical_document(resource, keys),
        'location': {
            'package_name': resource.get('package_name'),
            'original_file_path': dbt_provenance.package_path(resource.get('original_file_path')),
            'checksum': checksum.get('checksum') if checksum is mapping else checksum,
        },
    }, sort_keys=true) -%}
    {#- A value that JSON cannot hold (tojson gives none): the resource is kept, without what cannot be told. -#}
    {%- if row is none -%}
        {%- set row = tojson({'unique_id': unique_id, 'location': {}, 'document': {
            'name': resource['name'], 'resource_type': resource['resource_type'], 'capture_error': 'a value of this resource has no form in JSON'}}, sort_keys=true) -%}
    {%- endif -%}
    {{ return(row) }}
{%- endmacro %}

{#- A path with forward slashes from the package's own root: dbt 2 puts the install folder in front. -#}
{% macro package_path(path) -%}
    {%- if not path -%}{{ return(none) }}{%- endif -%}
    {%- set parts = (path | string | replace('\\', '/')).split('/') -%}
    {{ return((parts[2:] if parts[0] == 'dbt_packages' else parts) | join('/')) }}
{%- endmacro %}

{#- What was seen, for the length of one capture. Not a temporary table: dbt 2 may send each statement over another connection. -#}
{% macro create_capture_table(landing) -%}
    {%- set seen = dbt_provenance.name_of(api.Relation.create(database=landing.database, schema=landing.schema, identifier='prov_seen')) -%}
    {%- do run_query('drop table if exists ' ~ seen) -%}
    {%- do run_query('create table ' ~ seen ~ ' (unique_id ' ~ dbt.type_string() ~ ', document ' ~ dbt.type_string() ~ ', document_hash ' ~ dbt.type_string() ~ ', location ' ~ dbt.type_string() ~ ')') -%}
    {{ return(seen) }}
{%- endmacro %}

{% macro insert_staged(seen, batch) -%}
    {{ return(adapter.dispatch('insert_staged', 'dbt_provenance')(seen, batch)) }}
{%- endmacro %}

{#- The warehouse writes the document's text: so the hash is over one form, whatever the engine escapes in tojson. -#}
{% macro duckdb__insert_staged(seen, batch) -%}
    insert into {{ seen }}
    with staged as (
        select unnest(json_extract({{ dbt_provenance.literal('[' ~ batch | join(',') ~ ']') }}, '$[*]')) as resource
    )
    select
        json_extract_string(resource, '$.unique_id'),
        cast(json_extract(resource, '$.document') as varchar),
        sha256(cast(json_extract(resource, '$.document') as varchar)),
        cast(json_extract(resource, '$.location') as varchar)
    from staged
{%- endmacro %}
