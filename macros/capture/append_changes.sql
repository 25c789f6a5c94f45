{#- The statement that compares what was seen with what is open and appends the difference. Types of a section that is not in `sections`
    are left alone. A type of which nothing was seen closes nothing when all that was ever written of it came from another engine (or,
    outside nodes, minor version): there it may be missing, not empty (dbt 2 has no analyses, and no metrics from the older YAML). -#}
{% macro append_changes(landing, seen, sections) -%}
    {%- set types = [] -%}
    {%- for section, resource_types in dbt_provenance.graph_sections().items() if section in sections -%}
        {%- do types.extend(resource_types) -%}
    {%- endfor -%}
    {%- set major = dbt_version.split('.')[0] ~ '.%' -%}
    {%- set minor = dbt_version.split('.')[:2] | join('.') ~ '.%' -%}
    insert into {{ dbt_provenance.name_of(landing) }} (
        raw_id, project_name, target_name, target_schema, canonical_version, capture_source, unique_id, resource_type, change_kind,
        document, document_hash, location, recorded_at_utc, invocation_id, dbt_version
    )
    with own_rows as (
        select landed.*
        from {{ dbt_provenance.name_of(landing) }} as landed
        where landed.project_name = {{ dbt_provenance.literal(project_name) }}
          and landed.target_name = {{ dbt_provenance.literal(target.name) }}
    ),
    open_rows as (
        select *
        from own_rows
        qualify row_number() over (partition by unique_id order by raw_id desc) = 1
    ),
    provided_types as (
        select open_rows.resource_type
        from {{ seen }} as seen
        inner join open_rows on open_rows.unique_id = seen.unique_id
        union all
        select json_extract_string(seen.document, '$.resource_type') from {{ seen }} as seen where seen.document is not null
        union all
        select own_rows.resource_type from own_rows
        where own_rows.capture_source = 'graph'
          and own_rows.change_kind = 'open'
          and (
              own_rows.dbt_version like {{ dbt_provenance.literal(minor) }}
              or (own_rows.dbt_version like {{ dbt_provenance.literal(major) }} and own_rows.resource_type in ({{ dbt_provenance.quoted(dbt_provenance.graph_sections()['nodes']) }}))
          )
    ),
    changes as (
        select seen.unique_id, json_extract_string(seen.document, '$.resource_type') as resource_type, 'open' as change_kind,
            seen.document, seen.document_hash, seen.location
        from {{ seen }} as seen
        left join open_rows on open_rows.unique_id = seen.unique_id
        where (
            open_rows.unique_id is null or open_rows.change_kind = 'close' or open_rows.document_hash is distinct from seen.document_hash
            -- an older release did not write it; a policy for a path would not find the resource
            or open_rows.location is null
        )
          and {{ dbt_provenance.is_not_erased('seen.document', 'seen.document_hash') }}
        union all
        select open_rows.unique_id, open_rows.resource_type, 'close', null, null, open_rows.location
        from open_rows
        left join {{ seen }} as seen on seen.unique_id = open_rows.unique_id
        where seen.unique_id is null
          and open_rows.change_kind = 'open'
          and open_rows.resource_type in ({{ dbt_provenance.quoted(types or ['']) }})
          and open_rows.resource_type in (select resource_type from provided_types)
    )
    select
        {{ dbt_provenance.last_number(landing, 'raw_id') }} + row_number() over (order by unique_id),
        {{ dbt_provenance.literal(project_name) }},
        {{ dbt_provenance.literal(target.name) }},
        {{ dbt_provenance.literal(target.schema) }},
        1,
        'graph',
        unique_id,
        resource_type,
        change_kind,
        document,
        document_hash,
        location,
        {{ dbt_provenance.utc_now() }},
        {{ dbt_provenance.literal(invocation_id) }},
        {{ dbt_provenance.literal(dbt_version) }}
    from changes
{%- endmacro %}

{#- An erased text is not captured again: neither the same document nor another one with the same text. -#}
{% macro is_not_erased(document, document_hash) -%}
    {%- set ledger = dbt_provenance.own_relation('prov_ledger') -%}
    {%- if not dbt_provenance.exists_in_warehouse(ledger) -%}
        {{ return('true') }}
    {%- endif -%}
    not exists (
        select 1 from {{ dbt_provenance.name_of(ledger) }} as erased
        where erased.ledger_action = 'erase'
          and (erased.document_hash = {{ document_hash }} or erased.content_hash = {{ dbt_provenance.authored_hash(document) }})
    )
{%- endmacro %}
