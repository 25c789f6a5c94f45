{#- What is kept of each resource, by unique_id. The twin in Python is capture/canonical.py, which states the rules (numbers
    below); a test holds the two equal. Keys are sorted when a document is written.

    In dbt Core a macro call costs as much as two hundred look-ups, a method call as much as twenty, and a name that is first met
    inside a loop is looked for in the whole context on every turn. So what most resources say takes few of these, names are met
    above the loops, and what many say alike (a folder's meta, a contract that is not enforced) is worked out once: `known` holds
    it by the text of what was given. -#}
{% macro canonical_documents(resources) -%}
    {%- set keys = dbt_provenance.canonical_keys() -%}
    {%- set columns = dbt_provenance.canonical_columns(resources) -%}
    {%- set defaults, inside, dropped = keys['defaults'], keys['inside'], keys['dropped'] -%}
    {%- set documents, wanted, known, given, text, nodes = {}, {}, {}, none, '', [] -%}
    {%- for unique_id, resource in resources | items -%}
        {%- set resource_type = resource['resource_type'] -%}
        {%- set barred = dropped[resource_type] if resource_type in dropped else [] -%}
        {%- if resource_type not in wanted -%}
            {%- do wanted.update({resource_type: dbt_provenance.plain_keys(resource_type, keys)}) -%}
        {%- endif -%}
        {%- set config = resource['config'] or {} -%}
        {%- set meta = config['meta'] or resource['meta'] or {} -%}
        {%- set document = {} -%}
        {%- for key in wanted[resource_type] -%}
            {%- set found = resource[key] if key in resource else none -%}
            {%- set found = found if found or found == 0 or found == false else config[key] if key in config else none -%}
            {%- if found is string and key != 'tags' -%}
                {%- if found and (key not in defaults or found not in defaults[key]) -%}
                    {%- do document.update({key: found[:10] if key == 'deprecation_date' else found}) -%}
                {%- endif -%}
            {%- elif found or found == 0 or found == false -%}
                {%- set given = found | items | selectattr(0, 'in', inside[key]) | list if key in inside and found is mapping else found -%}
                {%- set text = key ~ [given, meta if key in inside else none] -%}
                {%- if text not in known -%}{%- do known.update({text: dbt_provenance.canonical_value(key, found, keys, meta)}) -%}{%- endif -%}
                {%- if known[text] is not none -%}{%- do document.update({key: known[text]}) -%}{%- endif -%}
            {%- endif -%}
        {%- endfor -%}
        {%- if unique_id in columns -%}{%- do document.update({'columns': columns[unique_id]}) -%}{%- endif -%}
        {%- if 'depends_on' in resource and resource['depends_on']['nodes'] and 'depends_on' not in barred -%}
            {%- set nodes = resource['depends_on']['nodes'] -%}
            {%- do document.update({'depends_on': nodes if nodes | length == 1 else nodes | unique(case_sensitive=true) | sort(case_sensitive=true) | list}) -%}
        {%- endif -%}
        {%- if meta and 'meta' not in barred -%}
            {%- set text = 'meta' ~ [meta, resource['meta']] -%}
            {%- if text not in known -%}{%- do known.update({text: dbt_provenance.canonical_meta(meta, resource['meta'] or {}, keys)}) -%}{%- endif -%}
            {%- do document.update(known[text]) -%}
        {%- endif -%}
        {%- if 'loaded_at_query' in document and 'loaded_at_field' in document -%}{%- do document.pop('loaded_at_field') -%}{%- endif -%}
        {%- do documents.update({unique_id: document}) -%}
    {%- endfor -%}
    {{ return(documents) }}
{%- endmacro %}

{#- Rule 1: the keys kept of a type of resource that have no rule of their own. -#}
{% macro plain_keys(resource_type, keys) -%}
    {%- set others = keys['dropped'].get(resource_type, []) + ['columns', 'depends_on', 'meta'] -%}
    {{ return((keys['common'] + keys.get(resource_type, [])) | reject('in', others) | list) }}
{%- endmacro %}

{#- Rule 6 for columns: by unique_id of their resource, then by name. -#}
{% macro canonical_columns(resources) -%}
    {%- set keys = dbt_provenance.canonical_keys() -%}
    {%- set of_all, known, text = {}, {}, '' -%}
    {%- for unique_id, resource in resources | items if resource['columns'] and 'columns' in keys.get(resource['resource_type'], []) -%}
        {%- set config = resource['config'] or {} -%}
        {%- set meta = config['meta'] or resource['meta'] or {} -%}
        {%- set tags = resource['tags'] or config['tags'] or [] -%}
        {%- set columns = {} -%}
        {%- for name, column in resource['columns'] | items -%}
            {%- set description, data_type, constraints = column['description'], column['data_type'], column['constraints'] -%}
            {%- set kept = {'description': description, 'data_type': data_type} if description and data_type
                else {'description': description} if description else {'data_type': data_type} if data_type else {} -%}
            {%- set own_config = column['config'] or {} -%}
            {%- set own_meta = own_config['meta'] or column['meta'] or {} -%}
            {%- set own_tags = own_config['tags'] or column['tags'] or [] -%}
            {%- if own_tags or constraints or (own_meta and own_meta != meta) -%}
                {%- set text = [own_meta, own_tags, constraints, meta, tags] | string -%}
                {%- if text not in known -%}
                    {%- do known.update({text: dbt_provenance.canonical_mapping({
                        'meta': dbt_provenance.own_entries(own_meta, meta),
                        'tags': dbt_provenance.as_set(own_tags) | reject('in', tags) | list,
                        'constraints': constraints or [],
                    }, keys['defaults'], false, keys['deepest'])}) -%}
                {%- endif -%}
                {%- do kept.update(known[text]) -%}
            {%- endif -%}
            {%- do columns.update({name: kept}) -%}
        {%- endfor -%}
        {%- do of_all.update({unique_id: columns}) -%}
    {%- endfor -%}
    {{ return(of_all) }}
{%- endmacro %}

{#- Rules 2, 4, 5 and 7 for a value that is no text; none when nothing of it is kept. -#}
{% macro canonical_value(key, found, keys, meta) -%}
    {%- if key in ['version', 'latest_version'] -%}{{ return(found | string) }}{%- endif -%}
    {%- if key == 'deprecation_date' -%}{{ return((found | string)[:10]) }}{%- endif -%}
    {%- if key == 'tags' -%}{{ return(dbt_provenance.as_set(found)) }}{%- endif -%}
    {%- if key in keys['inside'] -%}{%- set found = dbt_provenance.canonical_inside(found, keys['inside'][key], key, meta) -%}{%- endif -%}
    {{ return(dbt_provenance.canonical_mapping({key: found}, keys['defaults'], false, keys['deepest']).get(key)) }}
{%- endmacro %}

{#- Rule 3: meta, and meta_top where the two say different things. -#}
{% macro canonical_meta(meta, at_top, keys) -%}
    {{ return(dbt_provenance.canonical_mapping({'meta': meta, 'meta_top': dbt_provenance.own_entries(at_top, meta)}, {}, false, keys['deepest'])) }}
{%- endmacro %}

{#- Rule 4. -#}
{% macro as_set(texts) -%}
    {{ return(([texts] if texts is string else texts) | unique(case_sensitive=true) | sort(case_sensitive=true) | list) }}
{%- endmacro %}

{#- Rule 2; and rule 6 for the entities, dimensions and measures of a semantic model. -#}
{% macro canonical_inside(found, inside, key, meta) -%}
    {%- if found is mapping -%}
        {%- set kept = {} -%}
        {%- for name in inside if name in found -%}{%- do kept.update({name: found[name]}) -%}{%- endfor -%}
        {%- if 'meta' in inside -%}
            {%- do kept.update({'meta': dbt_provenance.own_entries((found.get('config') or {}).get('meta') or found.get('meta') or {}, meta)}) -%}
            {%- if 'expr' in kept and kept['expr'] == kept['name'] -%}{%- do kept.pop('expr') -%}{%- endif -%}
        {%- endif -%}
        {{ return(dbt_provenance.without_repeats(kept) if key == 'type_params' else kept) }}
    {%- endif -%}
    {%- set kept = [] -%}
    {%- for item in found if item is mapping -%}{%- do kept.append(dbt_provenance.canonical_inside(item, inside, key, meta)) -%}{%- endfor -%}
    {{ return(kept) }}
{%- endmacro %}

{#- Rule 10. -#}
{% macro without_repeats(params) -%}
    {%- set kept = {} -%}
    {%- do kept.update(params) -%}
    {%- set aggregation = params.get('metric_aggregation_params') -%}
    {%- if aggregation is mapping and aggregation.get('expr') == params.get('expr') -%}
        {%- set own = {} -%}
        {%- for name, found in aggregation.items() if name != 'expr' -%}{%- do own.update({name: found}) -%}{%- endfor -%}
        {%- do kept.update({'metric_aggregation_params': own}) -%}
    {%- endif -%}
    {%- for part in ['cumulative_type_params', 'conversion_type_params'] if params.get(part) is mapping -%}
        {%- for name in ['window', 'grain_to_date'] if name in kept and kept[name] == params[part].get(name) -%}{%- do kept.pop(name) -%}{%- endfor -%}
    {%- endfor -%}
    {{ return(kept) }}
{%- endmacro %}

{#- The entries of a meta that the others do not hold alike. -#}
{%- macro own_entries(meta, others) -%}
    {%- set own = {} -%}
    {%- for key, found in meta.items() -%}
        {%- if key not in others or others[key] != found -%}{%- do own.update({key: found}) -%}{%- endif -%}
    {%- endfor -%}
    {{ return(own) }}
{%- endmacro %}

{#- Rules 7 to 9. `levels`: how many more are followed. The engines end at some depth of macro calls: dbt 2 (rc196) at 33 levels here, dbt Core at 150. -#}
{% macro canonical_mapping(value, defaults, in_meta, levels) -%}
    {%- set kept = {} -%}
    {%- for key, found in value.items() -%}
        {%- set inner = in_meta or key in ['meta', 'meta_top'] -%}
        {%- if found is mapping -%}
            {%- if found -%}{%- set found = dbt_provenance.canonical_mapping(found, {} if inner else defaults, inner, levels - 1) if levels else dbt_provenance.canonical_keys()['too_deep'] -%}{%- endif -%}
        {%- elif found is string -%}
            {%- if inner and found.endswith('\n') -%}{%- set found = found[:-1] -%}{%- endif -%}
        {%- elif found is sequence -%}
            {%- if found -%}{%- set found = dbt_provenance.canonical_list(found, {} if inner else defaults, inner, levels - 1) if levels else dbt_provenance.canonical_keys()['too_deep'] -%}{%- endif -%}
        {%- elif found is not none and found is not number and found is not boolean and found.isoformat is defined -%}
            {#- A date that Jinja put into meta: manifest.json has its text. -#}
            {%- set found = found.isoformat() -%}
        {%- endif -%}
        {%- if (found is not none and found not in ['', [], {}] and found not in defaults.get(key, [])) or (in_meta and key is string and key.startswith('provenance_')) -%}
            {#- JSON has text for keys: 1 is "1" in manifest.json, true is "true". -#}
            {%- do kept.update({key if key is string else tojson(key): found}) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(kept) }}
{%- endmacro %}

{% macro canonical_list(value, defaults, in_meta, levels) -%}
    {%- set kept = [] -%}
    {%- for found in value -%}
        {%- if found is mapping -%}
            {%- if found -%}{%- set found = dbt_provenance.canonical_mapping(found, defaults, in_meta, levels - 1) if levels else dbt_provenance.canonical_keys()['too_deep'] -%}{%- endif -%}
        {%- elif found is string -%}
            {%- if in_meta and found.endswith('\n') -%}{%- set found = found[:-1] -%}{%- endif -%}
        {%- elif found is sequence -%}
            {%- if found -%}{%- set found = dbt_provenance.canonical_list(found, defaults, in_meta, levels - 1) if levels else dbt_provenance.canonical_keys()['too_deep'] -%}{%- endif -%}
        {%- elif found is not none and found is not number and found is not boolean and found.isoformat is defined -%}
            {%- set found = found.isoformat() -%}
        {%- endif -%}
        {%- if found is not none and found not in ['', [], {}] -%}{%- do kept.append(found) -%}{%- endif -%}
    {%- endfor -%}
    {{ return(kept) }}
{%- endmacro %}

{#- The resources of a section with the keys that dbt Core gives them. In the graph of dbt 2 (tried on rc196) a group is kept in parts, and
    a metric calls its type and config otherwise; there and in its manifest.json (capture/artifact_files.py), a semantic model repeats its
    metrics as measures, and an exposure names metrics on which it is not said to depend. -#}
{% macro whole_resources(resources) -%}
    {%- set whole = {} -%}
    {%- for unique_id, resource in resources | items if '__common_attr__' in resource or 'deprecated_config' in resource or (resource['resource_type'] in ['semantic_model', 'exposure'] and dbt_version[:2] == '2.') -%}
        {%- set parts = {} -%}
        {%- if '__common_attr__' in resource -%}
            {%- do parts.update(resource['__common_attr__']) -%}
            {%- do parts.update(resource['__group_attr__'] or {}) -%}
            {%- do parts.update({'resource_type': 'group'}) -%}
        {%- elif resource['resource_type'] == 'semantic_model' -%}
            {%- do parts.update(resource) -%}
            {%- do parts.update({'measures': (resource['measures'] or []) | rejectattr('create_metric') | list}) -%}
        {%- elif resource['resource_type'] == 'exposure' -%}
            {%- do parts.update(resource) -%}
            {%- do parts.update({'depends_on': {'nodes': dbt_provenance.named_metrics(resource) + (resource['depends_on']['nodes'] or [])}}) -%}
        {%- else -%}
            {%- do parts.update(resource) -%}
            {%- do parts.update({'config': resource['deprecated_config'], 'type': resource['type'] or resource['metric_type']}) -%}
        {%- endif -%}
        {%- do whole.update({unique_id: parts}) -%}
    {%- endfor -%}
    {%- if not whole -%}
        {{ return(resources) }}
    {%- endif -%}
    {%- set all = {} -%}
    {%- do all.update(resources) -%}
    {%- do all.update(whole) -%}
    {{ return(all) }}
{%- endmacro %}

{#- The ids of the metrics that an exposure names: [name] or [package, name]. -#}
{% macro named_metrics(exposure) -%}
    {%- set found = [] -%}
    {%- for words in exposure['metrics'] or [] -%}
        {%- set package = words[0] if words | length > 1 else exposure['package_name'] -%}
        {%- set own = 'metric.' ~ package ~ '.' ~ words[-1] -%}
        {%- if own in graph['metrics'] -%}
            {%- do found.append(own) -%}
        {%- else -%}
            {%- for unique_id, metric in graph['metrics'] | items if metric['name'] == words[-1] and words | length == 1 -%}{%- do found.append(unique_id) -%}{%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro %}
