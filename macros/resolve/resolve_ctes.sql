{#- The decision of RULES "resolve", as CTEs over the function's arguments; resolve and resolve_candidates differ in their last select.

        given, asker, ...    who asks what, as of when
        named                the entities that answer to the text, and the version that a dbt name pins
        standing             statements of those entities that stand, with the dates for which they hold
        weighed              the rows of the one entity and version asked for
        asked                one row: the asker, what is weighed, and the days on which the answer could change within what was asked
        best                 who governs on each of those days
        verdict              one row: outcome, reason, missing, and the statement that decides
-#}
{% macro resolve_ctes() -%}
given as (
    select
        lower(trim(entity)) as given_entity,
        try_cast(as_of as date) as given_date,
        case when as_of is not null then try_cast(as_of_end as date) end as given_end,
        coalesce((as_of is not null and try_cast(as_of as date) is null) or (as_of_end is not null and try_cast(as_of_end as date) is null)
            or try_cast(as_of_end as date) < try_cast(as_of as date), false) as date_is_impossible,
        nullif({{ dbt_provenance.plain_version('version') }}, '') as given_version,
        {{ dbt_provenance.asking_principal('principal') }} as given_principal,
        {{ dbt_provenance.asking_tenant('tenant') }} as given_tenant,
        {{ dbt_provenance.asking_known_at('known_at') }} as given_known_at
),

{{ dbt_provenance.asker_ctes() }},

{{ dbt_provenance.term_hits_cte() }},

{{ dbt_provenance.seen_statements(entities='term_hits') }},

{{ dbt_provenance.standing_ctes() }},

{{ dbt_provenance.named_ctes() }},

weighed as materialized (
    select standing.*
    from standing
    inner join named on named.entity_id = standing.entity_id and named.named_count = 1
    cross join asker
    where standing.about_entity_id is null
      and standing.evidence_type = case standing.entity_type when 'lineage' then 'lineage' when 'freshness' then 'freshness_policy' else 'definition' end
      and (asker.given_version is null or coalesce({{ dbt_provenance.plain_version('standing.version_label') }} = asker.given_version, false))
      and (named.pinned_version is null or coalesce({{ dbt_provenance.plain_version('standing.version_label') }} = {{ dbt_provenance.plain_version('named.pinned_version') }}, false))
),

-- the days: the one asked for, and each within the period at which a row begins, ends or is deprecated
asked as materialized (
    select
        asker.is_known, asker.tenant_count, asker.given_date, asker.given_end, asker.date_is_impossible,
        coalesce(asker.given_version, names.pinned_version) is not null as is_pinned,
        names.entities,
        names.only_entity_id,
        counts.*,
        list_concat(
            case when asker.given_date is not null then [asker.given_date] else [] end,
            list_filter(list_distinct(list_append(counts.boundaries, date '0001-01-01')), lambda one_day:
                one_day is not null and (asker.given_date is null or (asker.given_end is not null and one_day > asker.given_date and one_day <= asker.given_end)))
        ) as day_list
    from asker
    cross join (select count(*) as entities, case when count(*) = 1 then max(entity_id) end as only_entity_id, max(pinned_version) as pinned_version from named) as names
    cross join (
        select
            count(*) as weighed_rows,
            max(entity_type) as only_entity_type,
            count(*) filter (where may_govern) as governing_rows,
            coalesce(flatten(list([holds_from, holds_to, deprecation_date]) filter (where may_govern)), []) as boundaries
        from weighed
    ) as counts
),

best as (
    select
        days.one_day, weighed.doc_id, weighed.evidence_id, weighed.fingerprint, weighed.holds_from,
        {'open': -coalesce(weighed.holds_from - date '0001-01-01', 0), 'evidence': weighed.evidence_id} as precedence
    from (select unnest(day_list) as one_day, is_pinned from asked) as days
    inner join weighed
        on weighed.may_govern
        and ({{ dbt_provenance.holds_on('weighed', 'days.one_day') }} or (days.is_pinned and weighed.holds_when_asked_only))
    qualify rank() over (partition by days.one_day order by {{ dbt_provenance.status_rank_on('weighed', 'days.one_day') }}, weighed.kind_rank) = 1
),

moments as materialized (
    select
        one_day,
        count(*) as best_count,
        min(fingerprint) <> max(fingerprint) as is_disputed,
        min({'precedence': precedence, 'doc_id': doc_id, 'holds_from': holds_from, 'statement': evidence_id || fingerprint}) as first_best
    from best
    group by one_day
),

verdict as materialized (
    select
        asked.*,
        latest.first_best.doc_id as latest_doc_id,
        latest.first_best.holds_from as latest_from,
        latest.disputed_day,
        case
            when tenant_count > 1 then {'outcome': 'clarify', 'reason': 'missing_tenant', 'missing': 'tenant'}
            when not is_known or entities = 0 then {'outcome': 'not_found_or_not_authorized', 'reason': 'nothing_visible', 'missing': null}
            when entities > 1 then {'outcome': 'clarify', 'reason': 'missing_entity', 'missing': 'entity'}
            when weighed_rows = 0 then {'outcome': 'not_found_or_not_authorized', 'reason': 'nothing_visible', 'missing': null}
            when date_is_impossible then {'outcome': 'clarify', 'reason': 'missing_as_of', 'missing': 'as_of'}
            when governing_rows = 0 then {'outcome': 'clarify', 'reason': 'only_non_governing', 'missing': case when is_pinned then null else 'governing_definition' end}
            when given_date is not null and moment_count = 0 then {'outcome': 'not_found_or_not_authorized', 'reason': 'no_version_on_date', 'missing': null}
            when is_pinned and moment_count < len(day_list) and given_date is not null then {'outcome': 'not_found_or_not_authorized', 'reason': 'no_version_on_date', 'missing': null}
            when given_end is not null and (moment_count < len(day_list) or not is_one_statement) and not is_disputed then {'outcome': 'clarify', 'reason': 'missing_as_of', 'missing': 'as_of'}
            when given_end is not null and moment_count > 1 and is_disputed then {'outcome': 'clarify', 'reason': 'missing_as_of', 'missing': 'as_of'}
            when given_date is null and not is_pinned and (moment_count = 0 or not is_one_statement or is_disputed) then {'outcome': 'clarify', 'reason': 'missing_as_of', 'missing': 'as_of'}
            when is_disputed then {'outcome': 'conflict', 'reason': 'conflict', 'missing': 'decision'}
            when widest_tie > 1 and (given_date is not null or is_pinned) then {'outcome': 'resolved', 'reason': 'duplicate_equal', 'missing': null}
            when is_pinned then {'outcome': 'resolved', 'reason': 'version_pinned', 'missing': null}
            when given_date is null then {'outcome': 'resolved', 'reason': 'only_version', 'missing': null}
            else {'outcome': 'resolved', 'reason': 'governs', 'missing': null}
        end as decision
    from asked
    cross join (
        select
            count(*) as moment_count,
            min(first_best.statement) = max(first_best.statement) as is_one_statement,
            coalesce(bool_or(is_disputed), false) as is_disputed,
            coalesce(max(best_count), 0) as widest_tie,
            max(one_day) filter (where is_disputed) as disputed_day,
            arg_max(first_best, one_day) as first_best
        from moments
    ) as latest
)
{%- endmacro %}

{#- The names that the text asked for may mean; `asker` has given_entity. -#}
{% macro term_hits_cte() -%}
term_hits as materialized (
    select names.tier, names.entity_id, names.pinned_version, names.doc_id
    from {{ dbt_provenance.relation('prov_int_names') }} as names
    inner join given on given.given_entity = names.term
    where names.tier <= 3
)
{%- endmacro %}

{#- From `standing` and `term_hits` the CTE `named`: the entities of the first tier in which anything that stands answers, without those that one
    of the others is built on, how many they are, and the version that all their names pin. -#}
{% macro named_ctes() -%}
hits as (
    select term_hits.tier, term_hits.entity_id, term_hits.pinned_version, standing.kind_rank, standing.unique_id, standing.project_name, standing.source_kind, standing.relation_name
    from term_hits
    inner join standing
        on standing.doc_id = term_hits.doc_id and standing.about_entity_id is null
        -- a synonym is one while it is said: today's, or that of the date asked for
        and (term_hits.tier < 3 or coalesce(standing.next_recorded_from_utc > standing.given_known_at, true) or (standing.given_date is not null and {{ dbt_provenance.holds_on('standing', 'standing.given_date') }}))
    qualify term_hits.tier = min(term_hits.tier) over ()
),

{{ dbt_provenance.rival_ctes() }},

named as materialized (
    select entity_id, case when count(*) = count(pinned_version) then max(pinned_version) end as pinned_version, count(*) over () as named_count
    from hits
    where entity_id not in (select entity_id from outranked)
    group by entity_id
)
{%- endmacro %}

{#- 'v2', 'version 2' and '2' are one version. -#}
{% macro plain_version(version_sql) -%}
    regexp_replace(lower(trim(cast({{ version_sql }} as varchar))), '^(version\s*|v)(\d)', '\2')
{%- endmacro %}

{#- The rank of a row's status on a day: from its deprecation date on, a version ranks as deprecated. -#}
{% macro status_rank_on(row, day) -%}
    case when {{ row }}.deprecation_date <= {{ day }} then greatest({{ row }}.status_rank, 4) else {{ row }}.status_rank end
{%- endmacro %}
