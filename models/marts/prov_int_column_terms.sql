-- one row per term of a column, measure or dimension: which part of a document a search matched
select distinct
    unnest({{ dbt_provenance.tokens("concat_ws(' , ', part_name, part_text)") }}) as term,
    doc_id,
    part_kind || ' ' || part_name as part_label,
    case when is_guarded then coalesce(part_policy_id, 0) end as part_policy_id
from {{ dbt_provenance.relation('prov_int_columns') }}
order by term
