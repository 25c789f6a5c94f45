{#- Types of resource of which something is open and this engine's graph has nothing: had it been empty, append_changes would have
    closed it. What is open of them is kept as it was; `dbt-provenance refresh` reads them from manifest.json. -#}
{% macro unavailable_types(landing, cost) -%}
    {%- if not dbt_provenance.is_switched_on('capture') -%}{{ return([]) }}{%- endif -%}
    {%- set there = [] -%}
    {%- for section, resource_types in dbt_provenance.graph_sections().items() if graph.get(section) -%}
        {%- if resource_types | length == 1 -%}
            {%- do there.append(resource_types[0]) -%}
        {%- else -%}
            {%- for resource_type in graph[section].values() | map(attribute='resource_type') | unique -%}{%- do there.append(resource_type | string) -%}{%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set open = [] -%}
    {%- for row in dbt_provenance.send(dbt_provenance.open_types(landing), cost).rows -%}{%- do open.append(row[0]) -%}{%- endfor -%}
    {{ return(open | reject('in', there) | list) }}
{%- endmacro %}

{#- The types of what this project and target hold as open, of those that a graph gave. -#}
{% macro open_types(landing) -%}
    select distinct resource_type
    from (
        select
            resource_type,
            change_kind,
            max(case when capture_source = 'graph' then 1 else 0 end) over (partition by unique_id) as is_of_graph,
            row_number() over (partition by unique_id order by raw_id desc) as newest
        from {{ dbt_provenance.name_of(landing) }}
        where project_name = {{ dbt_provenance.literal(project_name) }}
          and target_name = {{ dbt_provenance.literal(target.name) }}
    ) as states
    where newest = 1 and change_kind = 'open' and is_of_graph = 1
    order by resource_type
{%- endmacro %}

{#- Half a sentence for the closing line. -#}
{% macro unavailable_remark(missing) -%}
    {{ return('; unavailable in this engine and kept as it was: ' ~ missing ~ ' (`dbt-provenance refresh` reads it from manifest.json)' if missing else '') }}
{%- endmacro %}
