{{ config(alias='synonyms') }}
-- one row per synonym of an entity and the evidence that gives it
with {{ dbt_provenance.session_ctes() }}

select distinct
    evidence.entity_id,
    evidence.entity_type,
    names.term as synonym_text,
    evidence.evidence_id
from {{ dbt_provenance.relation('prov_int_names') }} as names
inner join {{ dbt_provenance.relation('prov_int_evidence') }} as evidence on evidence.doc_id = names.doc_id
cross join asker
where names.tier = 3
  and evidence.recorded_from_utc <= asker.given_known_at
  and {{ dbt_provenance.row_stands('evidence', 'asker.given_known_at') }}
  and {{ dbt_provenance.may_see('evidence') }}
