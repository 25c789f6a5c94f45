{#- The CTEs that say which revisions stand at the time of knowing and for which dates they hold, computed over what the asker may see:

        declared   the newest revision alone, for the interval that its author declared
        dbt        the newest revision of each version, handed over from version to version as latest_version moved
        observed   each revision from the day it was recorded to the day the next one was; the first is open backwards

    Reads a CTE `seen` (visible revisions of whole entities with the columns of `seen_columns`, recorded at or before given_known_at) and gives
    `standing`: its rows with holds_from, holds_to (dates, half-open, null is open), holds_when_asked_only, superseding_evidence_id. Few columns
    and windows in place of joins: the price of a call is its planning. -#}
{% macro standing_ctes() -%}
-- a dbt model with all its versions (before it had versions it was one resource), and what each evidence says last of what it supersedes
timed as (
    select
        seen.*,
        {{ dbt_provenance.row_holds_from('seen') }} as own_from,
        {{ dbt_provenance.row_holds_to('seen', 'seen.given_known_at') }} as own_to,
        min(first_recorded_utc) over model_rows as model_first_utc,
        bool_or(validity_basis = 'dbt') over model_rows as has_versions,
        arg_max(latest_version, raw_id) filter (where validity_basis = 'dbt') over model_rows as model_latest,
        lead(evidence_id) over versions as next_evidence_id,
        lead(dbt_version_label) over versions as next_version_label,
        {{ dbt_provenance.plain_version('last_value(supersedes_label) over revisions') }} as superseded_label,
        last_value(may_govern) over revisions as still_may_govern
    from seen
    where {{ dbt_provenance.row_stands('seen', 'seen.given_known_at') }}
    window
        model_rows as (partition by entity_id, evidence_type, project_name, resource_type),
        versions as (partition by entity_id, evidence_type, project_name, validity_basis = 'dbt' order by {{ dbt_provenance.version_order('dbt_version_label') }}),
        revisions as (partition by evidence_id order by raw_id rows between unbounded preceding and unbounded following)
),

-- versions of one dbt model hand over to the next one that latest_version has reached
handed as (
    select
        *,
        validity_basis = 'dbt' and coalesce({{ dbt_provenance.version_order('next_version_label') }} <= {{ dbt_provenance.version_order('model_latest') }}, false) as next_is_reached,
        validity_basis = 'dbt' and {{ dbt_provenance.version_order('dbt_version_label') }} > {{ dbt_provenance.version_order('model_latest') }} as is_prerelease,
        coalesce(is_below_at_first, false) and deprecation_date is null as has_no_known_end
    from timed
),

handovers as (
    select
        *,
        next_is_reached and has_no_known_end as is_unknown,
        case when next_is_reached and not has_no_known_end then
            least(deprecation_date, case when passed_utc <= given_known_at then cast(passed_utc as date) end)
        end as handover_date
    from handed
),

-- a version begins where the ones below it have ended, so that no two of them hold at once; only what may govern, and still says so, closes
-- the version that it says it supersedes
closed as (
    select
        *,
        max(handover_date) over (
            partition by entity_id, evidence_type, project_name, validity_basis = 'dbt' order by {{ dbt_provenance.version_order('dbt_version_label') }}
            rows between unbounded preceding and 1 preceding
        ) as handed_over_on,
        list_min(list_filter(
            list({'superseded_on': coalesce(own_from, date '0001-01-01'), 'closing_id': evidence_id, 'closed_label': superseded_label})
                filter (where may_govern and still_may_govern and interval_is_sound and {{ dbt_provenance.plain_version('supersedes_label') }} = superseded_label)
                over (partition by entity_id, evidence_type),
            lambda one_closing: one_closing.closed_label = {{ dbt_provenance.plain_version('version_label') }} and one_closing.closing_id <> evidence_id
        )) as closing
    from handovers
),

standing as (
    select
        * exclude (own_from, own_to, closing, handed_over_on),
        case
            -- else where it was reached, or was first seen when the model was known already; else it is open backwards
            when validity_basis = 'dbt' then coalesce(
                handed_over_on,
                case when reached_utc <= given_known_at then cast(reached_utc as date) end,
                case when first_recorded_utc > model_first_utc then cast(first_recorded_utc as date) end
            )
            -- a model that had versions and has none any more
            when validity_basis = 'observed' and has_versions and first_recorded_utc > model_first_utc then coalesce(own_from, cast(first_recorded_utc as date))
            else greatest(own_from, formula_from)
        end as holds_from,
        case when validity_basis = 'dbt' then least(handover_date, own_to) else least(own_to, formula_to, closing.superseded_on) end as holds_to,
        is_prerelease or is_unknown as holds_when_asked_only,
        coalesce(closing.closing_id, case when handover_date is not null or is_unknown then next_evidence_id end) as superseding_evidence_id
    from closed
)
{%- endmacro %}

{#- What standing_ctes needs of a row of evidence, with the answers that depend on the asker; `asker` is joined. -#}
{% macro seen_columns(row) -%}
    asker.given_known_at, asker.given_date,
    {%- for column in ['doc_id', 'raw_id', 'evidence_id', 'entity_id', 'entity_type', 'entity_name', 'evidence_type', 'unique_id', 'resource_type', 'project_name', 'source_kind',
        'version_label', 'dbt_version_label', 'latest_version', 'deprecation_date', 'supersedes_label', 'status', 'status_rank', 'kind_rank', 'may_govern', 'validity_basis', 'interval_is_sound',
        'declared_from', 'declared_to', 'relation_name', 'recorded_date', 'recorded_from_utc', 'first_recorded_utc', 'next_recorded_from_utc', 'chain_until_utc', 'gone_from_utc',
        'is_below_at_first', 'reached_utc', 'passed_utc'] %}
    {{ row }}.{{ column }},
    {%- endfor %}
    {{ dbt_provenance.starts_when_recorded(row) }} as starts_when_recorded
{%- endmacro %}

{#- Whether observed validity begins with the recording, for this asker: not where what lies before is hidden. -#}
{% macro starts_when_recorded(row) -%}
    {{ row }}.starts_when_recorded and list_contains(asker.policy_list, coalesce({{ row }}.before_gap_policy_id, -1))
{%- endmacro %}

{#- What can be told from the row alone. A state that was replaced on the day it was recorded lives in recorded time only; a page
    that is gone is withdrawn, a dbt resource that is gone held until then. -#}
{% macro row_stands(row, known_at) -%}
    (
        coalesce({{ row }}.next_recorded_from_utc > {{ known_at }}, true)
        or (
            {{ row }}.validity_basis = 'observed'
            and coalesce({{ row }}.chain_until_utc > {{ known_at }}, true)
            and cast({{ row }}.next_recorded_from_utc as date) <> {{ row }}.recorded_date
        )
    )
    and not ({{ row }}.source_kind = 'page' and coalesce({{ row }}.gone_from_utc <= {{ known_at }}, false))
{%- endmacro %}

{#- `starts_when_recorded` is the row's own, or of `starts_when_recorded(row)` where the row does not come from `seen`. -#}
{% macro row_holds_from(row, starts_when_recorded=none) -%}
    case
        when {{ row }}.validity_basis = 'declared' then {{ row }}.declared_from
        when {{ row }}.validity_basis = 'observed' and {{ starts_when_recorded or row ~ '.starts_when_recorded' }} then {{ row }}.recorded_date
    end
{%- endmacro %}

{% macro row_holds_to(row, known_at) -%}
    least(
        case when {{ row }}.validity_basis = 'declared' then {{ row }}.declared_to end,
        case when {{ row }}.validity_basis = 'observed' and {{ row }}.next_recorded_from_utc <= {{ known_at }} then cast({{ row }}.next_recorded_from_utc as date) end,
        case when {{ row }}.gone_from_utc <= {{ known_at }} then cast({{ row }}.gone_from_utc as date) end
    )
{%- endmacro %}

{% macro holds_on(row, date_sql) -%}
    ({{ row }}.interval_is_sound and not {{ row }}.holds_when_asked_only
        and coalesce({{ row }}.holds_from <= {{ date_sql }}, true) and coalesce({{ date_sql }} < {{ row }}.holds_to, true)
        and coalesce({{ row }}.holds_from < {{ row }}.holds_to, true))
{%- endmacro %}
