-- one row per measurement of a source's freshness
select
    cast(null as varchar) as invocation_id,
    cast(null as varchar) as project_name,
    cast(null as varchar) as target_name,
    cast(null as varchar) as unique_id,
    cast(null as varchar) as observed_status,
    cast(null as timestamp) as max_loaded_at_utc,
    cast(null as timestamp) as snapshotted_at_utc,
    cast(null as double precision) as age_seconds,
    cast(null as integer) as warn_after_count,
    cast(null as varchar) as warn_after_period,
    cast(null as integer) as error_after_count,
    cast(null as varchar) as error_after_period,
    cast(null as varchar) as filter_text,
    cast(null as varchar) as error_text,
    cast(null as varchar) as observation_method,
    cast(null as timestamp) as recorded_at_utc
