select cast(now() at time zone 'UTC' as timestamp) as loaded_at where false
