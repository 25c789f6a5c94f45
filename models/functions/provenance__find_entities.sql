{{ config(alias='find_entities', schema='provenance_internal', access='protected') }}
-- one row per span of the question (its first 200 words, spans of at most 32) and visible entity that the whole span names; without any,
-- one row that says only in how many tenants the asker is
with given as materialized (
    select
        {{ dbt_provenance.words('left(cast(question as varchar), 20000)') }}[1:200] as given_words,
        {{ dbt_provenance.asking_principal('principal') }} as given_principal,
        {{ dbt_provenance.asking_tenant('tenant') }} as given_tenant,
        try_cast(as_of as date) as given_date,
        {{ dbt_provenance.asking_known_at('known_at') }} as given_known_at
),

{{ dbt_provenance.asker_ctes() }},

starts as (
    select given_words, unnest(range(len(given_words))) as first_word from given
),

spans as materialized (
    select first_word, span_words, array_to_string(given_words[first_word + 1:first_word + span_words], ' ') as span_text
    from starts
    cross join range(1, 33) as lengths (span_words)
    where first_word + span_words <= len(given_words)
),

found as materialized (
    select spans.*, names.tier, names.pinned_version, evidence.entity_id, evidence.entity_type, evidence.entity_name, evidence.kind_rank, evidence.unique_id,
        case when evidence.source_kind = 'page' then evidence.evidence_id end as page_id
    from spans
    inner join {{ dbt_provenance.relation('prov_int_names') }} as names on names.span_key = spans.span_text
    inner join {{ dbt_provenance.relation('prov_int_evidence') }} as evidence on evidence.doc_id = names.doc_id
    cross join asker
    where evidence.recorded_from_utc <= asker.given_known_at
      and {{ dbt_provenance.row_stands('evidence', 'asker.given_known_at') }}
      and {{ dbt_provenance.may_see('evidence') }}
      -- a synonym or a title is one while it is said: today's, or that of the date asked for
      and (
          names.tier < 3
          or coalesce(evidence.next_recorded_from_utc > asker.given_known_at, true)
          or (coalesce({{ dbt_provenance.row_holds_from('evidence', dbt_provenance.starts_when_recorded('evidence')) }} <= asker.given_date, asker.given_date is not null)
              and coalesce(asker.given_date < {{ dbt_provenance.row_holds_to('evidence', 'asker.given_known_at') }}, asker.given_date is not null))
      )
),

steps as (
    select edges.downstream_id, edges.upstream_id, edges.upstream_entity_id, edges.upstream_type, edges.edge_role
    from {{ dbt_provenance.relation('prov_int_edges') }} as edges
    cross join asker
    where {{ dbt_provenance.edge_is_visible() }}
),

-- what the pages among them are about: the entity of the best kind, when several answer to the page's word for it
about_steps as materialized (
    select steps.downstream_id, steps.upstream_id, steps.upstream_entity_id
    from steps
    where steps.edge_role = 'about' and steps.downstream_id in (select unique_id from found where page_id is not null)
    qualify dense_rank() over (
        partition by steps.downstream_id
        order by case steps.upstream_type when 'metric' then 1 when 'semantic_model' then 2 when 'model' then 3 else 4 end, steps.upstream_entity_id
    ) = 1
),

subjects as materialized (
    select found.*, coalesce(about_steps.upstream_entity_id, found.entity_id) as subject_entity_id, coalesce(about_steps.upstream_id, found.unique_id) as subject_node_id,
        about_steps.upstream_entity_id as about_entity_id
    from found
    left join about_steps on about_steps.downstream_id = found.unique_id and found.page_id is not null
),

-- what each of several is built on; nothing is built on or from a page
built as (
    with recursive walked as (
        select subject_entity_id as root_entity_id, subject_node_id as node_id, subject_entity_id as reached_entity_id
        from subjects
        where (select count(distinct subject_entity_id) from subjects) > 1
        union
        select walked.root_entity_id, steps.upstream_id, steps.upstream_entity_id
        from walked
        inner join steps on steps.downstream_id = walked.node_id and steps.edge_role in ('depends on', 'filter')
    )

    select root_entity_id, list_sort(list(distinct reached_entity_id)) as built_on
    from walked
    where reached_entity_id <> root_entity_id and reached_entity_id in (select subject_entity_id from subjects)
    group by root_entity_id
),

hits as (
    select
        subjects.first_word, subjects.span_words as word_count, subjects.span_text as matched_text, min(subjects.tier) as tier,
        subjects.entity_id, subjects.entity_type, subjects.entity_name, min(subjects.kind_rank) as kind_rank, max(subjects.pinned_version) as pinned_version,
        -- a page is named by its title, or by its own name when it speaks about something else
        case when count(*) = count(subjects.page_id) and (min(subjects.tier) = 4 or subjects.about_entity_id is not null) then min(subjects.page_id) end as page_evidence_id,
        subjects.about_entity_id, any_value(built.built_on) as built_on
    from subjects
    left join built on built.root_entity_id = subjects.subject_entity_id
    group by subjects.first_word, subjects.span_words, subjects.span_text, subjects.entity_id, subjects.entity_type, subjects.entity_name, subjects.about_entity_id
)

select asker.tenant_count, hits.*
from asker
left join hits on true
order by hits.first_word, hits.word_count, hits.tier, hits.entity_id
