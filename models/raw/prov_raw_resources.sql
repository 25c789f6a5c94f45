{{ config(meta={'fill': 'graph'}) }}
-- depends_on: {{ ref('dbt_provenance', 'prov_ledger') }} (an erased text is not captured again)
-- one row per change of a resource: opened with its canonical document, or closed because it is gone
select
    cast(null as bigint) as raw_id,
    cast(null as varchar) as project_name,
    cast(null as varchar) as target_name,
    cast(null as varchar) as target_schema,
    cast(null as integer) as canonical_version,
    cast(null as varchar) as capture_source,
    cast(null as varchar) as unique_id,
    cast(null as varchar) as resource_type,
    cast(null as varchar) as change_kind,
    cast(null as varchar) as document,
    cast(null as varchar) as document_hash,
    cast(null as varchar) as location,
    cast(null as timestamp) as recorded_at_utc,
    cast(null as varchar) as invocation_id,
    cast(null as varchar) as dbt_version
