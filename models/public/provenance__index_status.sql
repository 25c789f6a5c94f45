{{ config(alias='index_status') }}
-- one row: whether what is searched still equals what was captured, over what the asker may see
with {{ dbt_provenance.session_ctes() }}

select
    {{ dbt_provenance.index_state() }} as index_state,
    built.built_at_utc,
    built.target_name,
    (select count(*) from {{ dbt_provenance.relation('prov_int_documents') }} as documents where {{ dbt_provenance.may_see('documents') }}) as visible_documents,
    (select count(distinct documents.entity_id) from {{ dbt_provenance.relation('prov_int_documents') }} as documents where {{ dbt_provenance.may_see('documents') }}) as visible_entities
from {{ dbt_provenance.relation('prov_int_build') }} as built
where exists (select 1 from asker)
