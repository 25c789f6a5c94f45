select cast(now() at time zone 'UTC' as timestamp) + interval 9 hour as loaded_at
