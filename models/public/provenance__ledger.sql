{{ config(alias='ledger') }}
-- one row per erasure or revocation, for the service role alone
with {{ dbt_provenance.session_ctes() }}

select
    ledger.ledger_id,
    ledger.ledger_action,
    ledger.evidence_id,
    ledger.entity_id,
    ledger.content_hash,
    ledger.group_name,
    ledger.reason,
    ledger.recorded_at_utc
from {{ dbt_provenance.relation('prov_ledger') }} as ledger
inner join asker on asker.is_service
where ledger.tenant_id is null or ledger.tenant_id = asker.tenant_id
