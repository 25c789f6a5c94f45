select {{ env_var('SMALL_BROKEN', '1') }} as one from {{ ref('stg_events') }}
