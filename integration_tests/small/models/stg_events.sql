-- depends_on: {{ ref('events') }} (the source is what the seed loads)
select event_id, customer, amount, cast(occurred_at as timestamp) as occurred_at from {{ source('raw', 'events') }}
