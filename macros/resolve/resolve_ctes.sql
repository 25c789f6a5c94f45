{#- The decision of RULES "resolve", as CTEs over the function's arguments; resolve and resolve_candidates differ in their last select.

        given, asker, ...    who asks what, as of when
        named                the entities that answer to the text, and the version that a dbt name pins
        standing             revisions of those entities that stand, with the dates for which they hold
        weighed              the rows of the one entity and version asked for
        moments              the days on which the answer could change within what was asked, with who governs on each
        verdict              one row: outcome, reason, missing, and the document that decides
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
        least(coalesce(try_cast(known_at as timestamp), {{ dbt_provenance.utc_now() }}), {{ dbt_provenance.utc_now() }}) as given_known_at
),

{{ dbt_provenance.asker_ctes() }},

term_hits as materialized (
    select names.tier, names.entity_id, names.pinned_version, names.doc_id
    from {{ dbt_provenance.relation('prov_int_names') }} as names
    where names.term = (select given_entity from given) and names.tier <= 3
),

seen as materialized (
    select evidence.*
    from {{ dbt_provenance.relation('prov_int_evidence') }} as evidence
    where evidence.entity_id in (select entity_id from term_hits)
      and evidence.evidence_type <> 'page_piece'
      and evidence.recorded_from_utc <= (select given_known_at from given)
      and {{ dbt_provenance.may_see('evidence') }}
),

{{ dbt_provenance.standing_ctes() }},

hits as (
    select term_hits.tier, term_hits.entity_id, term_hits.pinned_version, standing.kind_rank, standing.unique_id
    from term_hits
    inner join standing on standing.doc_id = term_hits.doc_id
    qualify term_hits.tier = min(term_hits.tier) over ()
),

{{ dbt_provenance.rival_ctes() }},

named as materialized (
    select entity_id, case when count(*) = count(pinned_version) then max(pinned_version) end as pinned_version
    from hits
    where entity_id not in (select entity_id from outranked)
    group by entity_id
),

weighed as materialized (
    select
        standing.*,
        {{ dbt_provenance.plain_version('standing.version_label') }} as plain_version,
        {{ dbt_provenance.holds_on('standing', 'given.given_date') }} as holds_on_date
    from standing
    cross join given
    inner join named on named.entity_id = standing.entity_id
    where (select count(*) from named) = 1
      and standing.evidence_type = case standing.entity_type when 'lineage' then 'lineage' when 'freshness' then 'freshness_policy' else 'definition' end
      and coalesce({{ dbt_provenance.plain_version('standing.version_label') }} = given.given_version, given.given_version is null)
      and coalesce({{ dbt_provenance.plain_version('standing.version_label') }} = {{ dbt_provenance.plain_version('named.pinned_version') }}, named.pinned_version is null)
),

asked as materialized (
    select
        coalesce(given.given_version, (select max(pinned_version) from named)) is not null as is_pinned,
        given.given_date,
        given.given_end,
        given.date_is_impossible
    from given
),

-- the days at which the answer may change: the day asked for, and each day within the period at which a row begins, ends or is deprecated
days as (
    select given_date as day from asked where given_date is not null
    union
    select boundary
    from (
        select unnest([holds_from, holds_to, deprecation_date, date '0001-01-01']) as boundary from weighed where may_govern
    ) as boundaries
    cross join asked
    where boundary is not null
      and (asked.given_date is null or (asked.given_end is not null and boundary > asked.given_date and boundary <= asked.given_end))
),

ranked as (
    select
        days.day,
        weighed.doc_id, weighed.evidence_id, weighed.fingerprint, weighed.holds_from,
        {{ dbt_provenance.status_rank_on('weighed', 'days.day') }} as rank_on_day,
        weighed.kind_rank
    from days
    cross join asked
    inner join weighed
        on weighed.may_govern
        and ({{ dbt_provenance.holds_on('weighed', 'days.day') }} or (asked.is_pinned and weighed.holds_when_asked_only))
),

best as (
    select *
    from ranked
    qualify rank() over (partition by day order by rank_on_day, kind_rank) = 1
),

moments as (
    select
        day,
        count(*) as best_count,
        count(distinct fingerprint) as fingerprint_count,
        arg_min(doc_id, {'open': -coalesce(holds_from - date '0001-01-01', 0), 'evidence': evidence_id}) as doc_id,
        arg_min(evidence_id, {'open': -coalesce(holds_from - date '0001-01-01', 0), 'evidence': evidence_id}) as evidence_id,
        min(fingerprint) as fingerprint
    from best
    group by day
),

summary as (
    select
        (select count(*) from asker) as askers,
        (select tenant_count from memberships_of_asker) as tenants,
        (select count(*) from named) as entities,
        (select count(*) from weighed) as weighed_rows,
        (select count(*) from weighed where may_govern) as governing_rows,
        (select count(*) from days) as day_count,
        count(moments.day) as moment_count,
        count(distinct moments.evidence_id) as evidence_count,
        count(distinct moments.evidence_id || moments.fingerprint) as statement_count,
        coalesce(max(moments.fingerprint_count), 0) as widest_disagreement,
        coalesce(max(moments.best_count), 0) as widest_tie,
        arg_max(moments.doc_id, moments.day) as latest_doc_id,
        asked.is_pinned, asked.given_date, asked.given_end, asked.date_is_impossible
    from asked
    left join moments on true
    group by all
),

verdict as materialized (
    select
        *,
        case
            when askers = 0 and tenants > 1 then {'outcome': 'clarify', 'reason': 'missing_tenant', 'missing': 'tenant'}
            when askers = 0 or entities = 0 then {'outcome': 'not_found_or_not_authorized', 'reason': 'nothing_visible', 'missing': null}
            when entities > 1 then {'outcome': 'clarify', 'reason': 'missing_entity', 'missing': 'entity'}
            when weighed_rows = 0 then {'outcome': 'not_found_or_not_authorized', 'reason': 'nothing_visible', 'missing': null}
            when date_is_impossible then {'outcome': 'clarify', 'reason': 'missing_as_of', 'missing': 'as_of'}
            when governing_rows = 0 then {'outcome': 'clarify', 'reason': 'only_non_governing', 'missing': case when is_pinned then null else 'governing_definition' end}
            when given_date is not null and moment_count = 0 then {'outcome': 'not_found_or_not_authorized', 'reason': 'no_version_on_date', 'missing': null}
            when is_pinned and moment_count < day_count and given_date is not null then {'outcome': 'not_found_or_not_authorized', 'reason': 'no_version_on_date', 'missing': null}
            when given_end is not null and (moment_count < day_count or statement_count > 1) and widest_disagreement <= 1 then {'outcome': 'clarify', 'reason': 'missing_as_of', 'missing': 'as_of'}
            when given_end is not null and moment_count > 1 and widest_disagreement > 1 then {'outcome': 'clarify', 'reason': 'missing_as_of', 'missing': 'as_of'}
            when given_date is null and not is_pinned and (statement_count <> 1 or widest_disagreement > 1) then {'outcome': 'clarify', 'reason': 'missing_as_of', 'missing': 'as_of'}
            when widest_disagreement > 1 then {'outcome': 'conflict', 'reason': 'conflict', 'missing': 'decision'}
            when widest_tie > 1 and (given_date is not null or is_pinned) then {'outcome': 'resolved', 'reason': 'duplicate_equal', 'missing': null}
            when is_pinned then {'outcome': 'resolved', 'reason': 'version_pinned', 'missing': null}
            when given_date is null then {'outcome': 'resolved', 'reason': 'only_version', 'missing': null}
            else {'outcome': 'resolved', 'reason': 'governs', 'missing': null}
        end as decision
    from summary
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
