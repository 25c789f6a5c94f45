-- one row per term of a part (a column, a measure) that has a policy of its own
select term, doc_id, part_policy_id, frequency
from {{ dbt_provenance.relation('prov_int_postings') }}
where part_policy_id is not null
