select now() - interval 1 hour as loaded_at
