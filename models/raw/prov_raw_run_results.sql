-- one row per node that an invocation ran
select
    cast(null as varchar) as invocation_id,
    cast(null as varchar) as project_name,
    cast(null as varchar) as target_name,
    cast(null as varchar) as unique_id,
    cast(null as varchar) as run_status,
    cast(null as double precision) as execution_seconds,
    cast(null as varchar) as message_text,
    cast(null as bigint) as failures,
    cast(null as bigint) as rows_affected,
    cast(null as timestamp) as started_at_utc,
    cast(null as timestamp) as finished_at_utc,
    cast(null as varchar) as relation_name,
    cast(null as timestamp) as recorded_at_utc
