-- one row: how far raw had come when these tables were built
select
    coalesce(max(raw_id), 0) as built_through_raw_id,
    {{ dbt_provenance.utc_now() }} as built_at_utc,
    {{ dbt_provenance.literal(target.name) }} as target_name
from {{ dbt_provenance.relation('prov_raw_resources') }}
