select date_trunc('month', occurred_at), sum(amount) from {{ ref('stg_events') }} group by 1
