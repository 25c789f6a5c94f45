{#- The canonical document of a resource: the kept keys, nothing null, false, empty or at its default at any depth. Its twin in
    Python is capture/canonical.py; a test holds the two equal. Keys are sorted when the document is written. -#}
{% macro canonical_document(resource, keys) -%}
    {%- set config = resource.get('config') or {} -%}
    {%- set document = dbt_provenance.canonical_pick(resource, keys['common'] + keys.get(resource['resource_type'], []), keys) -%}
    {%- do document.update(dbt_provenance.canonical_pick(config, keys['config'], keys)) -%}
    {%- if document.get('depends_on') -%}
        {%- do document.update({'depends_on': document['depends_on'].get('nodes', [])}) -%}
    {%- endif -%}
    {%- set config_meta = dbt_provenance.canonical_value(config.get('meta') or {}, []) -%}
    {%- set top_meta = dbt_provenance.canonical_value(resource.get('meta') or {}, []) -%}
    {%- if config_meta or top_meta -%}
        {%- do document.update({'meta': config_meta or top_meta}) -%}
        {#- Two places that differ: both are kept, so that the stricter can hold and the difference be told. -#}
        {%- set differing = {} -%}
        {%- for name, found in top_meta.items() -%}
            {%- if config_meta and config_meta.get(name) != found -%}{%- do differing.update({name: found}) -%}{%- endif -%}
        {%- endfor -%}
        {%- if differing -%}{%- do document.update({'meta_top': differing}) -%}{%- endif -%}
    {%- endif -%}
    {%- if resource.get('columns') and 'columns' in keys.get(resource['resource_type'], []) -%}
        {%- do document.update({'columns': dbt_provenance.canonical_columns(resource['columns'], config_meta or top_meta, keys)}) -%}
    {%- endif -%}
    {%- for list_name in ['entities', 'dimensions', 'measures'] if document.get(list_name) -%}
        {%- do document.update({list_name: dbt_provenance.canonical_elements(document[list_name], config_meta or top_meta)}) -%}
    {%- endfor -%}
    {{ return(document) }}
{%- endmacro %}

{#- The entities, dimensions or measures of a semantic model, each with only the meta that is its own: Core repeats the model's. -#}
{% macro canonical_elements(elements, resource_meta) -%}
    {%- set kept = [] -%}
    {%- for element in elements -%}
        {%- set entry = {} -%}
        {%- for key, found in element.items() if key != 'config' -%}
            {%- do entry.update({key: found}) -%}
        {%- endfor -%}
        {%- set own = dbt_provenance.own_entries((element.get('config') or {}).get('meta') or {}, resource_meta) -%}
        {%- if own -%}{%- do entry.update({'meta': own}) -%}{%- endif -%}
        {%- do kept.append(entry) -%}
    {%- endfor -%}
    {{ return(kept) }}
{%- endmacro %}

{%- macro own_entries(meta, resource_meta) -%}
    {%- set own = {} -%}
    {%- for key, found in meta.items() -%}
        {%- if resource_meta.get(key) != found -%}{%- do own.update({key: found}) -%}{%- endif -%}
    {%- endfor -%}
    {{ return(own) }}
{%- endmacro %}

{#- A column's own meta is what it does not share with its resource: dbt 2 repeats the resource's meta in each column. -#}
{% macro canonical_columns(columns, resource_meta, keys) -%}
    {%- set kept = {} -%}
    {%- for name, column in columns.items() -%}
        {%- set entry = {} -%}
        {%- if column.get('description') -%}{%- do entry.update({'description': column['description']}) -%}{%- endif -%}
        {%- if column.get('data_type') -%}{%- do entry.update({'data_type': column['data_type']}) -%}{%- endif -%}
        {%- if column.get('tags') -%}{%- do entry.update({'tags': column['tags']}) -%}{%- endif -%}
        {%- set meta = (column.get('config') or {}).get('meta') or column.get('meta') -%}
        {%- if meta -%}
            {%- set own = dbt_provenance.own_entries(dbt_provenance.canonical_value(meta, []), resource_meta) -%}
            {%- if own -%}{%- do entry.update({'meta': own}) -%}{%- endif -%}
        {%- endif -%}
        {%- do kept.update({name: entry}) -%}
    {%- endfor -%}
    {{ return(kept) }}
{%- endmacro %}

{% macro canonical_pick(mapping, names, keys) -%}
    {%- set kept = {} -%}
    {%- for name in names if name != 'columns' -%}
        {%- set found = mapping.get(name) -%}
        {%- if found -%}
            {%- if found is mapping or (found is sequence and found is not string) -%}
                {%- set found = dbt_provenance.canonical_value(found, keys['dropped']) -%}
                {%- if found -%}{%- do kept.update({name: found}) -%}{%- endif -%}
            {%- elif name in keys['as_text'] -%}
                {%- do kept.update({name: found | string}) -%}
            {%- elif found != keys['defaults'].get(name) -%}
                {%- do kept.update({name: found}) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(kept) }}
{%- endmacro %}

{#- A nested value without nulls, false, empty texts, lists and mappings, and without the dropped keys. Zero is kept. -#}
{% macro canonical_value(value, dropped) -%}
    {%- if value is mapping -%}
        {%- set kept = {} -%}
        {%- for name, found in value.items() if name not in dropped -%}
            {%- if found is mapping or (found is sequence and found is not string) -%}
                {%- if found -%}
                    {%- set found = dbt_provenance.canonical_value(found, dropped) -%}
                    {%- if found -%}{%- do kept.update({name: found}) -%}{%- endif -%}
                {%- endif -%}
            {%- elif found or (found is number and found is not boolean) -%}
                {%- do kept.update({name: found}) -%}
            {%- endif -%}
        {%- endfor -%}
        {{ return(kept) }}
    {%- endif -%}
    {%- set kept = [] -%}
    {%- for found in value -%}
        {%- if found is mapping or (found is sequence and found is not string) -%}
            {%- set found = dbt_provenance.canonical_value(found, dropped) -%}
            {%- if found -%}{%- do kept.append(found) -%}{%- endif -%}
        {%- elif found or (found is number and found is not boolean) -%}
            {%- do kept.append(found) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(kept) }}
{%- endmacro %}
