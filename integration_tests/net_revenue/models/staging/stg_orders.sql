select order_id, customer_id, cast(ordered_at as timestamp) as ordered_at, order_total_usd, refund_amount_usd
from {{ source('raw_app', 'orders') }}
