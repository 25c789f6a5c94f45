-- depends_on: {{ ref('of_utc') }}
select * from {{ source('raw', 'of_utc') }}
