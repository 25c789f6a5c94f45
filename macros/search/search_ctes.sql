{#- Search over the visible rows alone, as CTEs over the function's arguments:

        corpus    the visible documents with their lengths: every statistic is taken over these
        scored    each document that a term or an exact name matches, with its score in millionths and its tier
        laned     the same with the lane: what may govern on the date, or what says otherwise
        placed    ranked within its lane
-#}
{% macro search_ctes() -%}
given as materialized (
    select
        left(cast(query as varchar), 20000) as given_text,
        replace(left(cast(query as varchar), 20000), '"', ' zqquotationzq ') as given_marked,
        try_cast(as_of as date) as given_date,
        {{ dbt_provenance.asking_principal('principal') }} as given_principal,
        {{ dbt_provenance.asking_tenant('tenant') }} as given_tenant,
        {{ dbt_provenance.asking_known_at('known_at') }} as given_known_at,
        ',' || regexp_replace(lower(cast(entity_types as varchar)), '[\[\]\s'']', '', 'g') || ',' as given_types,
        greatest(coalesce(try_cast(max_rows as bigint), 10), 0) as given_rows,
        greatest(coalesce(try_cast(first_row as bigint), 1), 1) as given_first
),

{{ dbt_provenance.asker_ctes() }},

-- a mark in the place of each quotation mark tells what is quoted; the words are the tokens that are no identifiers
tokenised as materialized (
    select {{ dbt_provenance.tokens('given_marked') }} as marked_tokens
    from given
),

worded as materialized (
    select
        list_filter(marked_tokens, lambda one_token: one_token <> 'zqquotationzq') as query_tokens,
        list_filter(marked_tokens, lambda one_token: not regexp_matches(one_token, '[._]')) as marked_words
    from tokenised
),

asked as materialized (
    select
        worded.query_tokens,
        lower(trim(given.given_text, ' "')) as query_term,
        array_to_string(list_filter(worded.marked_words, lambda one_word: one_word <> 'zqquotationzq'), ' ') as query_key,
        list_filter(list_transform(string_split(array_to_string(worded.marked_words, ' '), 'zqquotationzq')[2:-:2], lambda one_key: trim(one_key)), lambda one_key: one_key <> '') as quoted_keys
    from worded
    cross join given
),

-- the first 64 distinct terms
terms as materialized (
    select term, cast(row_number() over (order by min(place)) - 1 as integer) as term_number
    from (select unnest(query_tokens) as term, generate_subscripts(query_tokens, 1) as place from asked)
    group by term
    qualify row_number() over (order by min(place)) <= 64
),

corpus as materialized (
    select
        documents.doc_id,
        documents.bag_length + case when documents.has_guarded_parts then coalesce((
            select sum(parts.frequency)
            from {{ dbt_provenance.relation('prov_int_guarded_postings') }} as parts
            where parts.doc_id = documents.doc_id and parts.part_policy_id in (select policy_id from visible_policies)
        ), 0) else 0 end as bag_length
    from {{ dbt_provenance.relation('prov_int_documents') }} as documents
    inner join visible_policies on visible_policies.policy_id = documents.policy_id
    cross join asker
    where documents.recorded_from_utc <= asker.given_known_at
      and {{ dbt_provenance.row_stands('documents', 'asker.given_known_at') }}
      and case when len(asker.struck_keys) = 0 then true else not list_has_any(asker.struck_keys, documents.ledger_keys) end
),

corpus_size as materialized (
    select count(*) as document_count, cast(sum(bag_length) as double) / count(*) as mean_length from corpus
),

matches as materialized (
    select postings.doc_id, terms.term_number, postings.frequency, corpus.bag_length
    from {{ dbt_provenance.relation('prov_int_postings') }} as postings
    inner join terms on terms.term = postings.term
    inner join corpus on corpus.doc_id = postings.doc_id
    where postings.part_policy_id is null or postings.part_policy_id in (select policy_id from visible_policies)
),

frequencies as (
    select term_number, count(distinct doc_id) as document_frequency from matches group by term_number
),

by_terms as (
    select
        per_term.doc_id,
        sum({{ dbt_provenance.bm25_millionths('corpus_size.document_count', 'frequencies.document_frequency', 'per_term.frequency', 'per_term.bag_length', 'corpus_size.mean_length') }}) as millionths
    from (select doc_id, term_number, sum(frequency) as frequency, any_value(bag_length) as bag_length from matches group by doc_id, term_number) as per_term
    inner join frequencies on frequencies.term_number = per_term.term_number
    cross join corpus_size
    group by per_term.doc_id
),

-- an exact name comes first, whatever else matches
by_name as (
    select names.doc_id, min(case names.tier when 0 then 0 when 1 then 0 when 2 then 1 else 2 end) as tier
    from {{ dbt_provenance.relation('prov_int_names') }} as names
    cross join asked
    inner join corpus on corpus.doc_id = names.doc_id
    where names.tier <= 3 and names.span_key <> '' and (names.term = asked.query_term or names.span_key = asked.query_key)
    group by names.doc_id
),

scored as (
    select
        coalesce(by_terms.doc_id, by_name.doc_id) as doc_id,
        coalesce(by_name.tier, 3) as tier,
        coalesce(by_terms.millionths, 0) as millionths
    from by_terms
    full outer join by_name on by_name.doc_id = by_terms.doc_id
),

-- each quoted span stands contiguously in one field of the document; the texts are read only when something is quoted
quoted as materialized (
    select phrases.doc_id
    from {{ dbt_provenance.relation('prov_int_phrases') }} as phrases
    inner join (select scored.doc_id, asked.quoted_keys from scored inner join asked on len(asked.quoted_keys) > 0) as candidates on candidates.doc_id = phrases.doc_id
    where phrases.part_policy_id is null or phrases.part_policy_id in (select policy_id from visible_policies)
    group by phrases.doc_id
    having len(list_filter(any_value(candidates.quoted_keys), lambda one_key: strpos(string_agg(phrases.phrase_text, '|'), ' ' || one_key || ' ') = 0)) = 0
),

matched as materialized (
    select
        scored.tier, scored.millionths, asker.given_date, asker.given_known_at,
        documents.doc_id, documents.evidence_id, documents.entity_id, documents.entity_type, documents.evidence_type, documents.status, documents.validity_basis, documents.interval_is_sound,
        documents.declared_from, documents.declared_to, documents.recorded_date, documents.next_recorded_from_utc, documents.gone_from_utc, documents.is_contextual,
        {{ dbt_provenance.starts_when_recorded('documents') }} as starts_when_recorded
    from scored
    inner join {{ dbt_provenance.relation('prov_int_documents') }} as documents on documents.doc_id = scored.doc_id
    cross join (select given_date, given_known_at, given_types, policy_list, quoted_keys from asker cross join asked) as asker
    where coalesce(strpos(asker.given_types, ',' || documents.entity_type || ',') > 0, true)
      and (len(asker.quoted_keys) = 0 or scored.doc_id in (select doc_id from quoted))
),

-- intervals that depend on other rows of the entity
seen as materialized (
    select {{ dbt_provenance.seen_columns('evidence') }}, cast(null as date) as formula_from, cast(null as date) as formula_to
    from {{ dbt_provenance.relation('prov_int_evidence') }} as evidence
    cross join asker
    where evidence.entity_id in (select entity_id from matched where is_contextual)
      and evidence.recorded_from_utc <= asker.given_known_at
      and {{ dbt_provenance.may_see('evidence') }}
),

{{ dbt_provenance.standing_ctes() }},

dated as (
    select
        matched.*,
        case when matched.is_contextual then standing.holds_from else {{ dbt_provenance.row_holds_from('matched') }} end as holds_from,
        case when matched.is_contextual then standing.holds_to else {{ dbt_provenance.row_holds_to('matched', 'matched.given_known_at') }} end as holds_to,
        matched.is_contextual and coalesce(standing.holds_when_asked_only, false) as holds_when_asked_only,
        matched.is_contextual and coalesce(standing.is_prerelease, false) as is_prerelease
    from matched
    left join standing on matched.is_contextual and standing.doc_id = matched.doc_id
),

laned as (
    select
        dated.doc_id, dated.evidence_id, dated.entity_id, dated.entity_type, dated.evidence_type, dated.status, dated.interval_is_sound, dated.holds_from, dated.holds_to, dated.holds_when_asked_only, dated.is_prerelease,
        dated.tier, dated.millionths, dated.given_date,
        case
            when dated.status not in ('draft', 'superseded', 'archived')
                and (
                    ({{ dbt_provenance.holds_on('dated', 'dated.given_date') }} and dated.given_date is not null)
                    or (dated.given_date is null and dated.interval_is_sound and not dated.holds_when_asked_only and coalesce(dated.holds_from < dated.holds_to, true))
                ) then 'answer'
            else 'conflict'
        end as lane
    from dated
),

placed as materialized (
    select
        *,
        row_number() over (partition by lane order by tier, millionths desc, evidence_id, doc_id) as place,
        count(*) over (partition by lane) as total_in_lane
    from laned
    qualify row_number() over (partition by lane order by tier, millionths desc, evidence_id, doc_id)
        between (select given_first from given) and (select given_first + given_rows - 1 from given)
)
{%- endmacro %}
