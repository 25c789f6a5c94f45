select cast(unnest(range(date '2024-01-01', date '2026-01-01', interval 1 day)) as date) as date_day
