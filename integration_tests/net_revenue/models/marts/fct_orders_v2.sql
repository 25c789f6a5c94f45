with payments as (
    select
        order_id,
        sum(case when event_type = 'capture' then amount_usd else 0 end) as captured_payment_usd,
        sum(case when event_type = 'refund' then amount_usd else 0 end) as refund_amount_usd,
        sum(case when event_type = 'chargeback' then amount_usd else 0 end) as chargeback_amount_usd
    from {{ ref('stg_payment_events') }}
    group by order_id
)

select
    orders.order_id,
    orders.ordered_at,
    cast(coalesce(payments.captured_payment_usd, 0) as double) as captured_payment_usd,
    cast(coalesce(payments.refund_amount_usd, 0) as double) as refund_amount_usd,
    cast(coalesce(payments.chargeback_amount_usd, 0) as double) as chargeback_amount_usd
from {{ ref('stg_orders') }} as orders
left join payments on payments.order_id = orders.order_id
