select order_id, ordered_at, order_total_usd, refund_amount_usd
from {{ ref('stg_orders') }}
