{{ config(alias='impact') }}
with given as materialized (
    select
        lower(trim(entity)) as given_entity,
        'downstream' as given_direction,
        coalesce(try_cast(max_depth as integer), 50) as given_depth,
        cast(null as varchar) as given_kinds,
        try_cast(as_of as date) as given_date,
        {{ dbt_provenance.asking_principal('principal') }} as given_principal,
        {{ dbt_provenance.asking_tenant('tenant') }} as given_tenant,
        {{ dbt_provenance.asking_known_at('known_at') }} as given_known_at
),

{{ dbt_provenance.trace_ctes() }}

{{ dbt_provenance.trace_select() }}
