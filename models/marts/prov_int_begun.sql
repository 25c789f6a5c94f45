-- one row: how far raw had come when the build of these tables began; the first of them to be built
select
    coalesce(max(raw_id), 0) as begun_through_raw_id,
    {{ dbt_provenance.utc_now() }} as begun_at_utc
from {{ dbt_provenance.relation('prov_raw_resources') }}
