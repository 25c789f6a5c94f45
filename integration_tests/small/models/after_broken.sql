select one from {{ ref('broken') }}
