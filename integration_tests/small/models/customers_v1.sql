select customer, sum(amount) as total from {{ ref('events') }} group by customer
