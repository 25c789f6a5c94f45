select customer, sum(amount) as total, count(*) as events from {{ ref('stg_events') }} group by customer
