-- one row per opened state of a resource in this target, with the interval in which this installation knew it
with landed as (
    select
        *,
        count(*) filter (where change_kind = 'close') over (
            partition by project_name, unique_id order by raw_id rows between unbounded preceding and current row
        ) as segment,
        lead(recorded_at_utc) over (partition by project_name, unique_id order by raw_id) as recorded_to_utc,
        lead(change_kind) over (partition by project_name, unique_id order by raw_id) as next_change_kind,
        row_number() over (partition by project_name, unique_id order by raw_id) as change_number
    from {{ dbt_provenance.relation('prov_raw_resources') }}
    where target_name = {{ dbt_provenance.literal(target.name) }}
),

final as (
    select
        raw_id,
        project_name,
        target_name,
        unique_id,
        resource_type,
        document,
        document_hash,
        location,
        change_number,
        segment,
        row_number() over (partition by project_name, unique_id, segment order by raw_id desc) = 1 as is_last_of_segment,
        recorded_at_utc as recorded_from_utc,
        recorded_to_utc,
        coalesce(next_change_kind = 'close', false) as is_closed_by_absence,
        json_extract_string(document, '$.name') as resource_name,
        coalesce(json_extract_string(location, '$.package_name'), json_extract_string(document, '$.package_name'), project_name) as package_name,
        json_extract_string(location, '$.original_file_path') as original_file_path,
        coalesce(json_extract_string(document, '$.package_name') = 'dbt_provenance', false) as is_own_package
    from landed
    where change_kind = 'open'
)

select * from final
