select event_id, customer, amount, cast(occurred_at as timestamp) as occurred_at from {{ source('raw', 'events') }}
