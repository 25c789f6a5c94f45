{#- The CTEs that say which revisions stand at the time of knowing and for which dates they hold, computed over what the asker may see:

        declared   the newest revision alone, for the interval that its author declared
        dbt        the newest revision of each version, handed over from version to version as latest_version moved
        observed   each revision from the day it was recorded to the day the next one was; the first is open backwards

    Reads a CTE `seen` (visible revisions of whole entities, recorded at or before given_known_at) and gives `standing`: its rows with
    holds_from, holds_to (dates, half-open, null is open), holds_when_asked_only, superseded_by. -#}
{% macro standing_ctes() -%}
timed as (
    select
        seen.*,
        {{ dbt_provenance.row_holds_from('seen') }} as own_from,
        {{ dbt_provenance.row_holds_to('seen') }} as own_to
    from seen
    cross join given
    where {{ dbt_provenance.row_stands('seen') }}
),

-- a dbt model with all its versions; before it had versions it was one resource
modelled as (
    select
        doc_id, entity_id, evidence_type, project_name, evidence_id, validity_basis, dbt_version_label, deprecation_date, is_below_at_first, passed_utc, reached_utc, first_recorded_utc,
        min(first_recorded_utc) over model_rows as model_first_utc,
        bool_or(validity_basis = 'dbt') over model_rows as has_versions,
        arg_max(latest_version, raw_id) filter (where validity_basis = 'dbt') over model_rows as model_latest
    from timed
    window model_rows as (partition by entity_id, evidence_type, project_name, resource_type)
),

-- versions of one dbt model hand over to the next one that latest_version has reached
handed as (
    select
        modelled.*,
        lead(evidence_id) over versions as next_evidence_id,
        coalesce({{ dbt_provenance.version_order('lead(dbt_version_label) over versions') }} <= {{ dbt_provenance.version_order('model_latest') }}, false) as next_is_reached,
        {{ dbt_provenance.version_order('dbt_version_label') }} > {{ dbt_provenance.version_order('model_latest') }} as is_prerelease,
        is_below_at_first and deprecation_date is null as has_no_known_end
    from modelled
    where validity_basis = 'dbt'
    window versions as (partition by entity_id, evidence_type, project_name order by {{ dbt_provenance.version_order('dbt_version_label') }})
),

handovers as (
    select
        handed.*,
        next_is_reached and has_no_known_end as is_unknown,
        case when next_is_reached and not has_no_known_end then
            least(deprecation_date, case when passed_utc <= given.given_known_at then cast(passed_utc as date) end)
        end as handover_date,
        case when reached_utc <= given.given_known_at then cast(reached_utc as date) end as reached_date
    from handed
    cross join given
),

-- a version begins where the ones below it have ended, so that no two of them hold at once; else where it was reached, or was first seen
-- when the model was known already; else it is open backwards
version_intervals as (
    select
        *,
        coalesce(
            max(handover_date) over (
                partition by entity_id, evidence_type, project_name order by {{ dbt_provenance.version_order('dbt_version_label') }}
                rows between unbounded preceding and 1 preceding
            ),
            reached_date,
            case when first_recorded_utc > model_first_utc then cast(first_recorded_utc as date) end
        ) as version_from
    from handovers
),

-- only what may govern, and still says so, closes the version that it says it supersedes
supersessions as (
    select
        timed.doc_id,
        arg_min(closing.evidence_id, {'day': coalesce(closing.own_from, date '0001-01-01'), 'evidence': closing.evidence_id}) as superseding_evidence_id,
        min(coalesce(closing.own_from, date '0001-01-01')) as superseded_on
    from timed
    inner join (
        select
            *,
            lower(last_value(supersedes_label) over revisions) as superseded_label,
            last_value(may_govern) over revisions as still_may_govern
        from timed
        window revisions as (partition by evidence_id order by raw_id rows between unbounded preceding and unbounded following)
    ) as closing
        on closing.entity_id = timed.entity_id and closing.evidence_type = timed.evidence_type and closing.evidence_id <> timed.evidence_id
        and closing.superseded_label = lower(timed.version_label) and lower(closing.supersedes_label) = closing.superseded_label
    where closing.may_govern and closing.still_may_govern and closing.interval_is_sound
    group by timed.doc_id
),

standing as (
    select
        timed.* exclude (own_from, own_to),
        case
            when timed.validity_basis = 'dbt' then version_intervals.version_from
            -- a model that had versions and has none any more
            when timed.validity_basis = 'observed' and modelled.has_versions and timed.first_recorded_utc > modelled.model_first_utc then coalesce(timed.own_from, cast(timed.first_recorded_utc as date))
            else timed.own_from
        end as holds_from,
        case when timed.validity_basis = 'dbt' then least(version_intervals.handover_date, timed.own_to) else least(timed.own_to, supersessions.superseded_on) end as holds_to,
        coalesce(version_intervals.is_prerelease or version_intervals.is_unknown, false) as holds_when_asked_only,
        coalesce(supersessions.superseding_evidence_id, case when version_intervals.handover_date is not null or version_intervals.is_unknown then version_intervals.next_evidence_id end) as superseding_evidence_id
    from timed
    inner join modelled on modelled.doc_id = timed.doc_id
    left join version_intervals on version_intervals.doc_id = timed.doc_id
    left join supersessions on supersessions.doc_id = timed.doc_id
)
{%- endmacro %}

{#- What of that can be told from the row alone. A state that was replaced on the day it was recorded lives in recorded time only; a page
    that is gone is withdrawn, a dbt resource that is gone held until then. -#}
{% macro row_stands(row) -%}
    (
        coalesce({{ row }}.next_recorded_from_utc > given.given_known_at, true)
        or (
            {{ row }}.validity_basis = 'observed'
            and coalesce({{ row }}.chain_until_utc > given.given_known_at, true)
            and cast({{ row }}.next_recorded_from_utc as date) <> {{ row }}.recorded_date
        )
    )
    and not ({{ row }}.source_kind = 'page' and coalesce({{ row }}.gone_from_utc <= given.given_known_at, false))
{%- endmacro %}

{% macro row_holds_from(row) -%}
    case
        when {{ row }}.validity_basis = 'declared' then {{ row }}.declared_from
        when {{ row }}.validity_basis = 'observed' and {{ row }}.starts_when_recorded
            and {{ row }}.before_gap_policy_id in (select policy_id from visible_policies) then {{ row }}.recorded_date
    end
{%- endmacro %}

{% macro row_holds_to(row) -%}
    least(
        case when {{ row }}.validity_basis = 'declared' then {{ row }}.declared_to end,
        case when {{ row }}.validity_basis = 'observed' and {{ row }}.next_recorded_from_utc <= given.given_known_at then cast({{ row }}.next_recorded_from_utc as date) end,
        case when {{ row }}.gone_from_utc <= given.given_known_at then cast({{ row }}.gone_from_utc as date) end
    )
{%- endmacro %}

{% macro holds_on(row, date_sql) -%}
    ({{ row }}.interval_is_sound and not {{ row }}.holds_when_asked_only
        and coalesce({{ row }}.holds_from <= {{ date_sql }}, true) and coalesce({{ date_sql }} < {{ row }}.holds_to, true)
        and coalesce({{ row }}.holds_from < {{ row }}.holds_to, true))
{%- endmacro %}
