select event_id, order_id, event_type, amount_usd, occurred_at
from {{ source('raw_payments', 'payment_events') }}
