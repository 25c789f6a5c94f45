select {{ var('small_broken', '1') }} as one from {{ ref('stg_events') }}
