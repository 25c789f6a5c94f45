{{ config(alias='search') }}
with {{ dbt_provenance.search_ctes() }},

shown as (
    select placed.*, evidence.revision, evidence.title, evidence.version_label, evidence.status_rank, evidence.kind_rank, evidence.may_govern,
        -- a text of lineage names what it is built from
        case when not (evidence.evidence_type = 'lineage' and {{ dbt_provenance.names_hidden('evidence') }})
            then evidence.definition_text end as definition_text
    from placed
    inner join {{ dbt_provenance.relation('prov_int_evidence') }} as evidence on evidence.doc_id = placed.doc_id
    cross join asker
),

-- what stands beside a result on its own entity: the best of them governs
beside as materialized (
    select evidence.*
    from {{ dbt_provenance.relation('prov_int_entity_evidence') }} as entity_evidence
    inner join {{ dbt_provenance.relation('prov_int_evidence') }} as evidence on evidence.doc_id = entity_evidence.doc_id
    where entity_evidence.entity_id in (select entity_id from placed where lane = 'answer') and entity_evidence.about_entity_id is null and evidence.may_govern
),

peers as (
    select evidence.entity_id, evidence.evidence_type, evidence.status_rank, evidence.kind_rank, evidence.interval_is_sound, asker.given_date,
        case when standing.doc_id is not null then standing.holds_from else {{ dbt_provenance.row_holds_from('evidence', dbt_provenance.starts_when_recorded('evidence')) }} end as holds_from,
        case when standing.doc_id is not null then standing.holds_to else {{ dbt_provenance.row_holds_to('evidence', 'asker.given_known_at') }} end as holds_to,
        coalesce(standing.holds_when_asked_only, false) as holds_when_asked_only
    from beside as evidence
    cross join asker
    left join standing on standing.doc_id = evidence.doc_id
    where evidence.recorded_from_utc <= asker.given_known_at
      and {{ dbt_provenance.row_stands('evidence', 'asker.given_known_at') }}
      and {{ dbt_provenance.may_see('evidence') }}
),

governing as (
    select peers.entity_id, peers.evidence_type, min(peers.status_rank * 100 + peers.kind_rank) as best_rank
    from peers
    where given_date is null or {{ dbt_provenance.holds_on('peers', 'peers.given_date') }}
    group by peers.entity_id, peers.evidence_type
),

matched_names as (
    select shown.doc_id, list(terms.term order by terms.term_number) as term_list, bit_or(postings.field_mask) as field_mask
    from shown
    inner join {{ dbt_provenance.relation('prov_int_postings') }} as postings on postings.doc_id = shown.doc_id
    inner join terms on terms.term = postings.term
    where postings.part_policy_id is null or postings.part_policy_id in (select policy_id from visible_policies)
    group by shown.doc_id
),

matched_columns as (
    select shown.doc_id, min(parts.part_label) as part_label
    from shown
    inner join {{ dbt_provenance.relation('prov_int_column_terms') }} as parts on parts.doc_id = shown.doc_id
    inner join terms on terms.term = parts.term
    where parts.part_policy_id is null or parts.part_policy_id in (select policy_id from visible_policies)
    group by shown.doc_id
)

select
    shown.lane,
    shown.place as rank,
    shown.tier as tier,
    shown.millionths / 1e6 as score,
    shown.evidence_id,
    shown.revision,
    shown.entity_id,
    shown.entity_type,
    shown.evidence_type,
    shown.title,
    shown.status,
    shown.version_label as version,
    shown.holds_from as valid_from,
    shown.holds_to as valid_to,
    case
        when shown.lane = 'answer' and shown.may_govern and shown.evidence_type <> 'page_piece' and shown.status_rank * 100 + shown.kind_rank = governing.best_rank then 'governing'
        when shown.lane = 'answer' then 'supporting'
        when shown.status in ('draft', 'superseded', 'archived') then shown.status
        when shown.is_prerelease then 'prerelease'
        when shown.holds_when_asked_only then 'not in force'
        when shown.holds_from > shown.given_date then 'scheduled'
        when not shown.interval_is_sound then 'unreadable validity'
        else 'other period'
    end as label,
    array_to_string(matched_names.term_list, ', ') as matched_terms,
    case
        when shown.tier = 0 then 'id'
        when shown.tier = 1 or matched_names.field_mask & 1 > 0 then 'name'
        when shown.tier = 2 or matched_names.field_mask & 2 > 0 then 'synonym'
        when matched_names.field_mask & 4 > 0 then 'title'
        when matched_names.field_mask & 8 > 0 then matched_columns.part_label
        else 'text'
    end as matched_field,
    {{ dbt_provenance.snippet('shown.definition_text', 'matched_names.term_list') }} as snippet,
    shown.total_in_lane as total_visible,
    true as text_untrusted
from shown
left join governing on governing.entity_id = shown.entity_id and governing.evidence_type = shown.evidence_type
left join matched_names on matched_names.doc_id = shown.doc_id
left join matched_columns on matched_columns.doc_id = shown.doc_id
order by shown.lane, shown.place
