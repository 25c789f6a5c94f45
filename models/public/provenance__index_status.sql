{{ config(alias='index_status') }}
-- one row: whether what is searched still equals what was captured, over what the asker may see
with {{ dbt_provenance.session_ctes() }}

select
    {{ dbt_provenance.index_state() }} as index_state,
    built.built_at_utc,
    built.target_name,
    counts.visible_documents,
    counts.visible_entities
from {{ dbt_provenance.relation('prov_int_build') }} as built
inner join asker on asker.is_known
cross join (
    select count(*) as visible_documents, count(distinct documents.entity_id) as visible_entities
    from {{ dbt_provenance.relation('prov_int_documents') }} as documents
    cross join asker
    where {{ dbt_provenance.may_see('documents') }}
) as counts
