{#- A new ledger beside raw rows means that the old one was lost: it is sealed, and nothing answers until
    `dbt-provenance ledger --restore FILE` or `--start-empty`. -#}
{% macro seal_lost_ledger(ledger) -%}
    {%- set raw = dbt_provenance.own_relation('prov_raw_resources') -%}
    {%- if dbt_provenance.is_own_table(raw) and dbt_provenance.count_rows(raw) > 0 -%}
        {%- do run_query(dbt_provenance.ledger_entry('seal', reason='the ledger was lost while raw holds rows')) -%}
        {%- do log('dbt_provenance: the ledger was lost, nothing answers until `dbt-provenance ledger --restore FILE` or `--start-empty`', info=true) -%}
    {%- endif -%}
{%- endmacro %}

{% macro ledger_entry(action, evidence_id=none, entity_id=none, document_hash=none, content_hash=none, group_name=none, tenant_id=none, reason=none) -%}
    {%- set ledger = dbt_provenance.name_of(dbt_provenance.own_relation('prov_ledger')) -%}
    insert into {{ ledger }} (
        ledger_id, ledger_action, evidence_id, entity_id, document_hash, content_hash, group_name, tenant_id, reason, recorded_at_utc
    )
    select
        {{ dbt_provenance.last_number(dbt_provenance.own_relation('prov_ledger'), 'ledger_id') }} + 1,
        {{ dbt_provenance.literal(action) }},
        {{ dbt_provenance.literal(evidence_id) }},
        {{ dbt_provenance.literal(entity_id) }},
        {{ dbt_provenance.literal(document_hash) }},
        {{ dbt_provenance.literal(content_hash) }},
        {{ dbt_provenance.literal(group_name) }},
        {{ dbt_provenance.literal(tenant_id) }},
        {{ dbt_provenance.literal(reason) }},
        {{ dbt_provenance.utc_now() }}
{%- endmacro %}
