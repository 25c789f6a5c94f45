{#- Whether a declared key makes its layer unreadable, so that it closes: allow, deny or tenant of a wrong type, or a key that was
    meant to be one of them: misspelt, in capitals, with another separator, or a mapping of them. -#}
{% macro closes(declared_key, value_type, value_list, declared_value, place) -%}
    {%- set meant = "regexp_replace(lower(" ~ declared_key ~ "), '^provenance[^a-z0-9]*', '')" -%}
    ({{ declared_key }} in ('allow', 'deny') and (
        {{ value_type }} not in ('VARCHAR', 'ARRAY')
        or ({{ value_type }} = 'ARRAY' and len(list_filter(cast(json_type({{ declared_value }}, '$[*]') as varchar[]), lambda one_type: one_type <> 'VARCHAR')) > 0)
        or list_contains({{ value_list }}, '')
    ))
    or ({{ declared_key }} = 'tenant' and {{ value_type }} <> 'VARCHAR')
    or ({{ declared_key }} not in ({{ dbt_provenance.quoted(dbt_provenance.governance_keys()) }}) and (
        least(levenshtein({{ meant }}, 'allow'), levenshtein({{ meant }}, 'deny'), levenshtein({{ meant }}, 'tenant'))
            <= case when {{ place }} = 'front_matter' then 1 else 2 end
        or ({{ meant }} = '' and {{ value_type }} = 'OBJECT')
    ))
{%- endmacro %}

{#- The keys by which a project governs its resources, as `provenance_<key>` in meta and without the prefix in front matter. -#}
{% macro governance_keys() -%}
    {{ return(['allow', 'deny', 'tenant', 'status', 'entity', 'version', 'valid_from', 'valid_to', 'supersedes', 'about', 'grain', 'unit', 'synonyms', 'owner', 'classification', 'title', 'source_uri']) }}
{%- endmacro %}

{% macro quoted(texts) -%}
    {%- set literals = [] -%}
    {%- for text in texts -%}{%- do literals.append(dbt_provenance.literal(text)) -%}{%- endfor -%}
    {{ return(literals | join(', ')) }}
{%- endmacro %}
