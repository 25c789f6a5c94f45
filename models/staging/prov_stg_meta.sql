-- one row per provenance key that a resource, a page or a part of a resource (a column, a measure) declares, and the place it stands in
with resources as (
    select raw_id, resource_type, document
    from {{ dbt_provenance.relation('prov_stg_resources') }}
    where document is not null and not is_own_package
),

elements as (
    select resources.raw_id, 'column' as part_kind, declared.key as part_name, declared.value as element
    from resources, json_each(resources.document, '$.columns') as declared
    {%- for list_name, part_kind in [('measures', 'measure'), ('dimensions', 'dimension'), ('entities', 'entity')] %}
    union all
    select resources.raw_id, '{{ part_kind }}', json_extract_string(declared.value, '$.name'), declared.value
    from resources, json_each(resources.document, '$.{{ list_name }}') as declared
    where resources.resource_type = 'semantic_model'
    {%- endfor %}
),

entries as (
    select resources.raw_id, '' as part_kind, '' as part_name, 'meta' as place, declared.key as full_key, declared.value as declared_value
    from resources, json_each(resources.document, '$.meta') as declared
    union all
    select resources.raw_id, '', '', 'meta_top', declared.key, declared.value
    from resources, json_each(resources.document, '$.meta_top') as declared
    union all
    select resources.raw_id, '', '', 'front_matter', 'provenance_' || declared.key, declared.value
    from resources, json_each(resources.document, '$.front_matter') as declared
    where resources.resource_type = 'page'
    union all
    select elements.raw_id, elements.part_kind, elements.part_name, 'meta', declared.key, declared.value
    from elements, json_each(elements.element, '$.meta') as declared
),

final as (
    select
        raw_id,
        part_kind,
        part_name,
        place,
        case when starts_with(full_key, 'provenance_') then substr(full_key, 12) else full_key end as declared_key,
        declared_value,
        json_type(declared_value) as value_type,
        case
            when json_type(declared_value) = 'VARCHAR' then json_extract_string(declared_value, '$')
            when json_type(declared_value) in ('BIGINT', 'UBIGINT', 'DOUBLE', 'BOOLEAN') then cast(declared_value as varchar)
        end as value_text,
        case
            when json_type(declared_value) = 'VARCHAR' then [json_extract_string(declared_value, '$')]
            when json_type(declared_value) = 'ARRAY' then cast(json_extract_string(declared_value, '$[*]') as varchar[])
        end as value_list
    from entries
    -- misspelt prefixes too: what was meant to close may not be overlooked
    where starts_with(lower(full_key), 'provenance') and (lower(full_key) <> 'provenance' or json_type(declared_value) = 'OBJECT')
)

select * from final
