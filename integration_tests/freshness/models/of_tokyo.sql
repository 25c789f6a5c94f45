select cast(now() at time zone 'Asia/Tokyo' as timestamp) - interval 1 hour as loaded_at
