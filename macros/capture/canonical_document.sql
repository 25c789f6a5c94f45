{#- What is kept of a resource. Its twin in Python is capture/canonical.py, which states the rules (numbers below); a test holds
    the two equal. Keys are sorted when the document is written. A macro call costs more than all else here: so plain values,
    and columns of which only text is said, take none. -#}
{% macro canonical_document(resource, keys) -%}
    {%- set config = resource.get('config') or {} -%}
    {%- set resource_type = resource['resource_type'] -%}
    {%- set dropped = keys['dropped'].get(resource_type, []) -%}
    {%- set defaults = keys['defaults'] -%}
    {%- set empty = ['', [], {}] -%}
    {%- set at_top = resource.get('meta') or {} -%}
    {%- set meta = config.get('meta') or at_top -%}
    {%- set tags = resource.get('tags') or config.get('tags') -%}
    {%- set tags = (tags | unique(case_sensitive=true) | sort(case_sensitive=true) | list) if tags else [] -%}
    {%- set upstream = (resource.get('depends_on') or {}).get('nodes') -%}
    {%- set kept = {} -%}
    {%- set nested = {} -%}
    {%- for key in keys['common'] + keys.get(resource_type, []) if key not in ['meta', 'tags', 'depends_on', 'columns'] and key not in dropped -%}
        {%- set found = resource.get(key) -%}
        {%- if found is none or found in empty -%}{%- set found = config.get(key) -%}{%- endif -%}
        {%- if found is none or found in empty -%}
        {%- elif key in ['version', 'latest_version'] -%}
            {%- do kept.update({key: found | string}) -%}
        {%- elif key == 'deprecation_date' -%}
            {%- do kept.update({key: (found | string)[:10]}) -%}
        {%- elif found is mapping or (found is sequence and found is not string) -%}
            {%- do nested.update({key: found}) -%}
        {%- elif found not in defaults.get(key, []) -%}
            {%- do kept.update({key: found}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if kept.get('loaded_at_query') -%}{%- do kept.pop('loaded_at_field', none) -%}{%- endif -%}
    {%- if tags and 'tags' not in dropped -%}{%- do kept.update({'tags': tags}) -%}{%- endif -%}
    {%- if upstream and 'depends_on' not in dropped -%}
        {%- do kept.update({'depends_on': upstream | unique(case_sensitive=true) | sort(case_sensitive=true) | list}) -%}
    {%- endif -%}
    {%- if meta and 'meta' not in dropped -%}
        {%- do nested.update({'meta': meta}) -%}
        {%- if at_top and at_top != meta -%}{%- do nested.update({'meta_top': dbt_provenance.own_entries(at_top, meta)}) -%}{%- endif -%}
    {%- endif -%}
    {%- if nested -%}
        {%- for key in nested if key in keys['inside'] -%}
            {%- do nested.update({key: dbt_provenance.canonical_inside(nested[key], keys['inside'][key], key, meta, tags)}) -%}
        {%- endfor -%}
        {%- do kept.update(dbt_provenance.canonical_mapping(nested, defaults, false)) -%}
    {%- endif -%}
    {%- if resource.get('columns') and 'columns' in keys.get(resource_type, []) -%}
        {%- do kept.update({'columns': dbt_provenance.canonical_columns(resource['columns'], keys, meta, tags)}) -%}
    {%- endif -%}
    {{ return(kept) }}
{%- endmacro %}

{#- The resource with the keys that manifest.json gives it. In the graph of dbt 2 (tried on rc196) a group is kept in parts, and a
    metric calls its type and config otherwise. -#}
{% macro whole_resource(resource) -%}
    {%- set whole = {} -%}
    {%- if '__common_attr__' in resource -%}
        {%- do whole.update(resource['__common_attr__']) -%}
        {%- do whole.update(resource.get('__group_attr__') or {}) -%}
        {%- do whole.update({'resource_type': 'group'}) -%}
        {{ return(whole) }}
    {%- elif 'deprecated_config' in resource -%}
        {%- do whole.update(resource) -%}
        {%- do whole.update({'config': resource['deprecated_config'], 'type': resource.get('type') or resource.get('metric_type')}) -%}
        {{ return(whole) }}
    {%- endif -%}
    {{ return(resource) }}
{%- endmacro %}

{#- Rule 2; and rule 6 for the entities, dimensions and measures of a semantic model. -#}
{% macro canonical_inside(found, inside, key, meta, tags) -%}
    {%- if found is mapping -%}
        {%- set kept = {} -%}
        {%- for name in inside if name in found -%}{%- do kept.update({name: found[name]}) -%}{%- endfor -%}
        {%- if key in ['entities', 'dimensions', 'measures'] -%}
            {%- do kept.update({'meta': dbt_provenance.own_entries((found.get('config') or {}).get('meta') or found.get('meta') or {}, meta)}) -%}
        {%- endif -%}
        {{ return(kept) }}
    {%- endif -%}
    {%- set kept = [] -%}
    {%- for item in found if item is mapping -%}{%- do kept.append(dbt_provenance.canonical_inside(item, inside, key, meta, tags)) -%}{%- endfor -%}
    {{ return(kept) }}
{%- endmacro %}

{#- Rule 6 for columns. -#}
{% macro canonical_columns(columns, keys, resource_meta, resource_tags) -%}
    {%- set kept = {} -%}
    {%- for name, column in columns.items() -%}
        {%- set entry = {} -%}
        {%- set nested = {} -%}
        {%- set config = column.get('config') or {} -%}
        {%- for key in keys['column'] if key not in ['meta', 'tags'] and column.get(key) -%}
            {%- if column[key] is string -%}{%- do entry.update({key: column[key]}) -%}{%- else -%}{%- do nested.update({key: column[key]}) -%}{%- endif -%}
        {%- endfor -%}
        {%- set meta = config.get('meta') or column.get('meta') -%}
        {%- if meta and meta != resource_meta -%}{%- do nested.update({'meta': dbt_provenance.own_entries(meta, resource_meta)}) -%}{%- endif -%}
        {%- set tags = config.get('tags') or column.get('tags') -%}
        {%- if tags -%}{%- do nested.update({'tags': tags | reject('in', resource_tags) | unique(case_sensitive=true) | sort(case_sensitive=true) | list}) -%}{%- endif -%}
        {%- if nested -%}{%- do entry.update(dbt_provenance.canonical_mapping(nested, keys['defaults'], false)) -%}{%- endif -%}
        {%- do kept.update({name: entry}) -%}
    {%- endfor -%}
    {{ return(kept) }}
{%- endmacro %}

{%- macro own_entries(meta, others) -%}
    {%- set own = {} -%}
    {%- for key, found in meta.items() -%}
        {%- if key not in others or others[key] != found -%}{%- do own.update({key: found}) -%}{%- endif -%}
    {%- endfor -%}
    {{ return(own) }}
{%- endmacro %}

{#- Rules 7 and 8. -#}
{% macro canonical_mapping(value, defaults, in_meta) -%}
    {%- set kept = {} -%}
    {%- for key, found in value.items() -%}
        {%- set inner = in_meta or key in ['meta', 'meta_top'] -%}
        {%- if found is mapping -%}
            {%- if found -%}{%- set found = dbt_provenance.canonical_mapping(found, {} if inner else defaults, inner) -%}{%- endif -%}
        {%- elif found is string -%}
            {%- if inner and found.endswith('\n') -%}{%- set found = found[:-1] -%}{%- endif -%}
        {%- elif found is sequence -%}
            {%- if found -%}{%- set found = dbt_provenance.canonical_list(found, {} if inner else defaults, inner) -%}{%- endif -%}
        {%- endif -%}
        {%- if (found is not none and found not in ['', [], {}] and found not in defaults.get(key, [])) or (in_meta and key.startswith('provenance_')) -%}
            {%- do kept.update({key: found}) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(kept) }}
{%- endmacro %}

{% macro canonical_list(value, defaults, in_meta) -%}
    {%- set kept = [] -%}
    {%- for found in value -%}
        {%- if found is mapping -%}
            {%- set found = dbt_provenance.canonical_mapping(found, defaults, in_meta) -%}
        {%- elif found is string -%}
            {%- if in_meta and found.endswith('\n') -%}{%- set found = found[:-1] -%}{%- endif -%}
        {%- elif found is sequence -%}
            {%- set found = dbt_provenance.canonical_list(found, defaults, in_meta) -%}
        {%- endif -%}
        {%- if found is not none and found not in ['', [], {}] -%}{%- do kept.append(found) -%}{%- endif -%}
    {%- endfor -%}
    {{ return(kept) }}
{%- endmacro %}
