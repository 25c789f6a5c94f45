select cast(now() at time zone 'UTC' as timestamp) - interval 1 hour as loaded_at
