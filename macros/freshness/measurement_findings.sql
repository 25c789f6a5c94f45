{#- The CTE `measurement_findings`, from `freshness_states`: what is wrong with how a source's freshness is measured. Computed when asked, for
    measurements come without a build. -#}
{% macro measurement_findings_cte() -%}
measurement_findings as (
    select
        freshness_states.project_name, freshness_states.unique_id, freshness_states.entity_id, freshness_states.original_file_path,
        rules.finding_rule, rules.severity, rules.field_name,
        case freshness_states.freshness_state
            when 'unreadable time' then freshness_states.error_text
            else cast(coalesce(freshness_states.max_loaded_at_utc, freshness_states.snapshotted_at_utc) as varchar)
        end as found_value,
        rules.advice
    from freshness_states
    inner join (values
        ('suspicious: clock used as data', 'clock used as data', 'error', 'loaded_at_field',
            'name a column of the data; the instant of the check tells nothing of it'),
        ('clock error', 'load in the future', 'error', 'loaded_at_field',
            'say in which zone the column is (loaded_at at time zone ''Asia/Tokyo''), or mend the clock that wrote it'),
        ('unreadable time', 'unreadable time', 'error', 'loaded_at_field',
            'let the expression give one timestamp with at most one zone')
    ) as rules (on_state, finding_rule, severity, field_name, advice) on rules.on_state = freshness_states.freshness_state
)
{%- endmacro %}
