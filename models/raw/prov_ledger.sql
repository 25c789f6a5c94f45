{{ config(meta={'fill': 'seal'}) }}
-- one row per erasure or revocation; every read applies it. A ledger that was lost while raw holds rows comes back sealed: nothing answers.
select
    cast(null as bigint) as ledger_id,
    cast(null as varchar) as ledger_action,
    cast(null as varchar) as evidence_id,
    cast(null as varchar) as entity_id,
    cast(null as varchar) as document_hash,
    cast(null as varchar) as content_hash,
    cast(null as varchar) as group_name,
    cast(null as varchar) as tenant_id,
    cast(null as varchar) as reason,
    cast(null as timestamp) as recorded_at_utc
