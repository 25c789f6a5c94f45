{#- The state of one row of `measured`, the first that applies. Instants may differ by five minutes between two clocks; more is an error of one. -#}
{% macro freshness_state(row) -%}
    case
        when {{ row }}.shortest_seconds is null then 'no policy'
        when not {{ row }}.is_observed then 'never observed'
        when {{ row }}.observed_status = 'parse error' then 'unreadable time'
        when {{ row }}.observed_status = 'runtime error' or ({{ row }}.max_loaded_at_utc is null and {{ row }}.snapshotted_at_utc is null) then 'check failed'
        when {{ row }}.observed_seconds_ago < -300 then 'clock error'
        when {{ row }}.max_loaded_at_utc is null then 'no data'
        when coalesce({{ row }}.age_seconds, {{ row }}.observed_seconds_ago) < -300 then 'clock error'
        when {{ row }}.is_clock then 'suspicious: clock used as data'
        when {{ row }}.observed_seconds_ago > {{ row }}.shortest_seconds then 'observation expired'
        when {{ row }}.observed_status in ('error', 'fail') or coalesce({{ row }}.age_seconds > {{ row }}.error_seconds, false) then 'stale'
        when {{ row }}.observed_status = 'warn' or coalesce({{ row }}.age_seconds > {{ row }}.warn_seconds, false) then 'late'
        when {{ row }}.age_seconds is not null then 'fresh'
        else 'check failed'
    end
{%- endmacro %}

{#- What each state means, and which is worse: known to be bad before not known, not known before fresh. One row a state; is_measured: a
    measurement that may be believed stands behind it. -#}
{% macro freshness_meanings() -%}
    {%- set meanings = [
        ('fresh', true, 'the newest load is within the limits'),
        ('no policy', false, 'nothing is expected of it'),
        ('never observed', false, 'no check of it was recorded'),
        ('observation expired', false, 'it was measured longer ago than the policy lets pass'),
        ('late', true, 'the newest load is older than warn_after'),
        ('suspicious: clock used as data', false, 'three times in a row the newest load was the instant of the check itself'),
        ('clock error', false, 'a time of it lies in the future'),
        ('unreadable time', false, 'dbt gave a time that cannot be read'),
        ('check failed', false, 'the last check ended in an error'),
        ('no data', false, 'it held no rows'),
        ('stale', true, 'the newest load is older than error_after'),
    ] -%}
    {%- for said_state, is_measured, meaning in meanings %}
    select {{ loop.index }} as severity_rank, '{{ said_state }}' as said_state, {{ is_measured | lower }} as is_measured, '{{ meaning }}' as state_reason
    {%- if not loop.last %} union all{% endif %}
    {%- endfor %}
{%- endmacro %}

{% macro seconds_between(earlier, later) -%}
    {{ return(adapter.dispatch('seconds_between', 'dbt_provenance')(earlier, later)) }}
{%- endmacro %}

{#- To the microsecond; null when one is. -#}
{% macro duckdb__seconds_between(earlier, later) -%}
    (date_diff('microsecond', {{ earlier }}, {{ later }}) / 1000000.0)
{%- endmacro %}
