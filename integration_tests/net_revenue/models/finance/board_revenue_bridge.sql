select cast(date_trunc('month', ordered_at) as date) as month_start, sum(captured_payment_usd) as captured_payment_usd
from {{ ref('fct_orders', version=2) }}
group by 1
