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

-- versions of one dbt model hand over to the next one that latest_version has reached
handed as (
    select
        timed.evidence_id,
        timed.doc_id,
        lead(timed.version_label) over versions as next_version,
        lead(timed.evidence_id) over versions as next_evidence_id,
        coalesce({{ dbt_provenance.version_order('lead(timed.dbt_version_label) over versions') }} <= {{ dbt_provenance.version_order('timed.latest_version') }}, false) as next_is_reached,
        {{ dbt_provenance.version_order('timed.dbt_version_label') }} > {{ dbt_provenance.version_order('timed.latest_version') }} as is_prerelease
    from timed
    where timed.validity_basis = 'dbt'
    window versions as (partition by timed.entity_id, timed.evidence_type, timed.project_name order by {{ dbt_provenance.version_order('timed.dbt_version_label') }})
),

handovers as (
    select
        timed.doc_id,
        timed.entity_id, timed.evidence_type, timed.project_name, timed.dbt_version_label,
        handed.is_prerelease,
        handed.next_evidence_id,
        handed.next_is_reached and timed.is_below_at_first and timed.deprecation_date is null as is_unknown,
        case when handed.next_is_reached then
            least(timed.deprecation_date, case when not timed.is_below_at_first and timed.passed_utc <= given.given_known_at then cast(timed.passed_utc as date) end)
        end as handover_date,
        case when timed.reached_utc <= given.given_known_at then cast(timed.reached_utc as date) end as reached_date
    from timed
    cross join given
    inner join handed on handed.doc_id = timed.doc_id
),

version_intervals as (
    select
        *,
        coalesce(lag(handover_date) over (partition by entity_id, evidence_type, project_name order by {{ dbt_provenance.version_order('dbt_version_label') }}), reached_date) as version_from
    from handovers
),

-- only what may govern closes the version that it says it supersedes
supersessions as (
    select entity_id, evidence_type, lower(supersedes_label) as superseded_label, min_by(evidence_id, coalesce(own_from, date '0001-01-01')) as superseding_evidence_id,
        min(coalesce(own_from, date '0001-01-01')) as superseded_on
    from timed
    where supersedes_label is not null and may_govern and interval_is_sound
    group by all
),

standing as (
    select
        timed.* exclude (own_from, own_to),
        case when timed.validity_basis = 'dbt' then version_intervals.version_from else timed.own_from end as holds_from,
        case when timed.validity_basis = 'dbt' then least(version_intervals.handover_date, timed.own_to) else least(timed.own_to, supersessions.superseded_on) end as holds_to,
        coalesce(version_intervals.is_prerelease or version_intervals.is_unknown, false) as holds_when_asked_only,
        coalesce(supersessions.superseding_evidence_id, case when version_intervals.handover_date is not null or version_intervals.is_unknown then version_intervals.next_evidence_id end) as superseding_evidence_id
    from timed
    left join version_intervals on version_intervals.doc_id = timed.doc_id
    left join supersessions
        on supersessions.entity_id = timed.entity_id and supersessions.evidence_type = timed.evidence_type
        and supersessions.superseded_label = lower(timed.version_label) and supersessions.superseding_evidence_id <> timed.evidence_id
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
