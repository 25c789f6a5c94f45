select strftime(cast(now() at time zone 'Asia/Tokyo' as timestamp) - interval 1 hour, '%Y-%m-%dT%H:%M:%S.%f') || '+09:00' as loaded_at
