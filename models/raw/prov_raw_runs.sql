-- one row per dbt invocation
select
    cast(null as varchar) as invocation_id,
    cast(null as varchar) as project_name,
    cast(null as varchar) as target_name,
    cast(null as varchar) as target_schema,
    cast(null as varchar) as command,
    cast(null as varchar) as dbt_version,
    cast(null as varchar) as adapter_type,
    cast(null as timestamp) as started_at_utc,
    cast(null as timestamp) as finished_at_utc,
    cast(null as boolean) as full_refresh,
    cast(null as boolean) as is_empty,
    cast(null as integer) as results_total,
    cast(null as timestamp) as recorded_at_utc,
    cast(null as varchar) as capture_source,
    cast(null as varchar) as unavailable_types
