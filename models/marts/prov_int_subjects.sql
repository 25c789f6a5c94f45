{%- set types = ['metric', 'model', 'seed', 'snapshot', 'source', 'semantic_model', 'exposure', 'saved_query', 'function', 'analysis', 'doc', 'page', 'policy', 'term', 'group', 'lineage', 'freshness'] -%}
-- one row per state of a resource that can be evidence: which entity it is about and what its author declared
-- depends_on: {{ dbt_provenance.relation('prov_int_begun') }}
with resources as (
    select *
    from {{ dbt_provenance.relation('prov_stg_resources') }}
    where document is not null and not is_own_package
      and resource_type in ('metric', 'model', 'seed', 'snapshot', 'source', 'semantic_model', 'exposure', 'saved_query', 'function', 'doc', 'page', 'page_piece')
),

-- a piece says what its page says
governed as (
    select resources.raw_id, coalesce(pages.raw_id, resources.raw_id) as governing_raw_id
    from resources
    left join resources as pages
        on resources.resource_type = 'page_piece' and pages.resource_type = 'page' and pages.project_name = resources.project_name
        and pages.unique_id = json_extract_string(resources.document, '$.page')
        and pages.recorded_from_utc < coalesce(resources.recorded_to_utc, timestamp '9999-01-01')
    qualify row_number() over (partition by resources.raw_id order by pages.raw_id desc) = 1
),

declared as (
    select
        raw_id,
        {%- for key in ['status', 'entity', 'version', 'valid_from', 'valid_to', 'supersedes', 'about', 'grain', 'unit', 'owner', 'classification', 'title', 'source_uri'] %}
        trim(coalesce(max(value_text) filter (where declared_key = '{{ key }}' and place <> 'meta_top'), max(value_text) filter (where declared_key = '{{ key }}'))) as {{ key }}_text,
        bool_or(declared_key = '{{ key }}' and value_text is null and value_type <> 'NULL') as {{ key }}_is_malformed,
        {%- endfor %}
        coalesce(max(value_list) filter (where declared_key = 'synonyms' and place <> 'meta_top'), max(value_list) filter (where declared_key = 'synonyms')) as synonyms
    from {{ dbt_provenance.relation('prov_stg_meta') }}
    where part_kind = ''
    group by raw_id
),

named as (
    select
        resources.*,
        declared.* exclude (raw_id),
        governed.governing_raw_id,
        coalesce(pages.unique_id, resources.unique_id) as page_id,
        case when resources.resource_type in ('page', 'page_piece') then 'doc' else resources.resource_type end as own_type,
        case
            when resources.resource_type = 'source' then json_extract_string(resources.document, '$.source_name') || '.' || resources.resource_name
            when resources.resource_type = 'page_piece' then pages.resource_name
            else resources.resource_name
        end as own_name,
        coalesce(declared.version_text, json_extract_string(resources.document, '$.version')) as version_label,
        json_extract_string(resources.document, '$.version') as dbt_version_label
    from resources
    inner join governed on governed.raw_id = resources.raw_id
    left join resources as pages on pages.raw_id = governed.governing_raw_id and governed.governing_raw_id <> resources.raw_id
    left join declared on declared.raw_id = governed.governing_raw_id
),

identified as (
    select
        *,
        case
            when own_type = 'doc' and resource_type <> 'doc' then 'doc.' || project_name || '.' || own_name
            when dbt_version_label is not null and ends_with(unique_id, '.v' || dbt_version_label) then left(unique_id, length(unique_id) - length(dbt_version_label) - 2)
            else unique_id
        end as own_entity_id
    from named
),

known_entities as (
    select distinct own_entity_id from identified
),

resolved as (
    select
        identified.*,
        case
            when entity_text is null or entity_text = '' then identified.own_entity_id
            when known_entities.own_entity_id is not null then entity_text
            when regexp_matches(entity_text, '^({{ types | join("|") }})\.' || regexp_escape(package_name) || '\.') then entity_text
            when regexp_matches(entity_text, '^({{ types | join("|") }})\.') then regexp_replace(entity_text, '^([a-z_]+)\.', '\1.' || package_name || '.')
            else own_type || '.' || package_name || '.' || entity_text
        end as entity_id
    from identified
    left join known_entities on known_entities.own_entity_id = identified.entity_text
),

final as (
    select
        * exclude (entity_id),
        entity_id,
        regexp_extract(entity_id, '^([a-z_]+)\.', 1) as entity_type,
        case when entity_text is null or entity_text = '' then own_name else regexp_replace(entity_id, '^[a-z_]+\.[^.]+\.', '') end as entity_name,
        {{ dbt_provenance.declared_date('valid_from_text', false) }} as declared_from,
        {{ dbt_provenance.declared_date('valid_to_text', true) }} as declared_to,
        valid_from_text is not null or valid_to_text is not null as has_declared_interval,
        coalesce(valid_from_is_malformed, false) or coalesce(valid_to_is_malformed, false)
            or (not {{ dbt_provenance.is_open_date('valid_from_text') }} and {{ dbt_provenance.declared_date('valid_from_text', false) }} is null)
            or (not {{ dbt_provenance.is_open_date('valid_to_text') }} and {{ dbt_provenance.declared_date('valid_to_text', true) }} is null) as interval_is_malformed,
        try_cast(left(json_extract_string(document, '$.deprecation_date'), 10) as date) as deprecation_date,
        json_extract_string(document, '$.latest_version') as latest_version
    from resolved
)

select * from final
