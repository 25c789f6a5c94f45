{#- States of one key that say the same and follow without a gap are one: a query over `states`, which has from_utc and until_utc. -#}
{% macro merged_states(states, key, content) -%}
    select * exclude (until_utc, is_new, island), max(until_utc) over (partition by {{ key }}, island) as until_utc
    from (
        select *, count(*) filter (where is_new) over (partition by {{ key }} order by from_utc rows unbounded preceding) as island
        from (
            select *, lag(until_utc) over key_states is distinct from from_utc
                {%- for column_name in content %} or lag({{ column_name }}) over key_states is distinct from {{ column_name }}{% endfor %} as is_new
            from {{ states }}
            window key_states as (partition by {{ key }} order by from_utc)
        )
    )
    qualify is_new
{%- endmacro %}

{#- The formula of a metric from its inputs' formulas, inside a group by metric: `input` has one row per input. -#}
{% macro composed_formula() -%}
    case metrics.metric_type
        when 'simple' then any_value(input.input_formula) filter (where input.input_key = 'measure')
        when 'ratio' then any_value(input.input_formula) filter (where input.input_key = 'numerator')
            || ' / ' || any_value(input.input_formula) filter (where input.input_key = 'denominator')
        when 'cumulative' then 'CUMULATIVE(' || coalesce(any_value(input.input_formula) filter (where input.input_key = 'measure'), any_value(input.input_formula) filter (where input.input_key = 'metric'))
            || coalesce(', window ' || {{ dbt_provenance.window_text("metrics.params", "cumulative_type_params.window") }}, ', window ' || {{ dbt_provenance.window_text("metrics.params", "window") }}, '')
            || coalesce(', grain to date ' || coalesce(json_extract_string(metrics.params, '$.cumulative_type_params.grain_to_date'), json_extract_string(metrics.params, '$.grain_to_date')), '') || ')'
        when 'conversion' then 'CONVERSION(' || any_value(input.input_formula) filter (where input.input_key = 'base') || ' to '
            || any_value(input.input_formula) filter (where input.input_key = 'conversion')
            || coalesce(', by ' || json_extract_string(metrics.params, '$.conversion_type_params.entity'), '')
            || coalesce(', within ' || {{ dbt_provenance.window_text("metrics.params", "conversion_type_params.window") }}, '') || ')'
        when 'derived' then {{ dbt_provenance.substituted("json_extract_string(metrics.params, '$.expr')",
            "list({'input_name': coalesce(input.input_alias, input.input_name), 'formula': input.input_formula} order by input.input_name) filter (where input.input_key = 'expression' and input.input_formula is not null)") }}
    end
{%- endmacro %}

{#- An expression with the names of inputs replaced by their formulas, all at once: through place holders, so that a name inside a
    formula is not replaced again. -#}
{% macro substituted(expression, inputs) -%}
    list_reduce(
        list_prepend(
            {'input_name': '', 'formula': list_reduce(
                list_prepend({'input_name': '', 'formula': {{ expression }}}, list_transform(coalesce({{ inputs }}, []), lambda one_input, place: {'input_name': one_input.input_name, 'formula': chr(2) || place || chr(3)})),
                lambda so_far, one_input: {'input_name': '', 'formula': regexp_replace(so_far.formula, '\b' || regexp_escape(one_input.input_name) || '\b', one_input.formula, 'g')}).formula},
            list_transform(coalesce({{ inputs }}, []), lambda one_input, place: {'input_name': chr(2) || place || chr(3), 'formula': one_input.formula})),
        lambda so_far, one_input: {'input_name': '', 'formula': replace(so_far.formula, one_input.input_name, one_input.formula)}).formula
{%- endmacro %}

{% macro aggregation_text(aggregation, expression) -%}
    case lower({{ aggregation }})
        when 'count_distinct' then 'COUNT(DISTINCT ' || {{ expression }} || ')'
        when 'average' then 'AVG(' || {{ expression }} || ')'
        when 'sum_boolean' then 'SUM(CASE WHEN ' || {{ expression }} || ' THEN 1 ELSE 0 END)'
        else upper({{ aggregation }}) || '(' || {{ expression }} || ')'
    end
{%- endmacro %}

{#- The where clauses of a dbt filter object as one text. -#}
{% macro where_text(filter_json) -%}
    nullif(array_to_string(list_transform(cast(json_extract_string({{ filter_json }}, '$.where_filters[*].where_sql_template') as varchar[]), lambda one_clause: trim(one_clause, ' ' || chr(10))), ' and '), '')
{%- endmacro %}

{% macro filtered(formula, filter_text) -%}
    {{ formula }} || coalesce(' FILTER (WHERE ' || {{ filter_text }} || ')', '')
{%- endmacro %}

{#- An input taken of another time: the period before, or the start of one. -#}
{% macro offset_text(declared) -%}
    coalesce('OFFSET (' || {{ dbt_provenance.window_text(declared, "offset_window") }} || ')', 'OFFSET (to ' || json_extract_string({{ declared }}, '$.offset_to_grain') || ')')
{%- endmacro %}

{% macro window_text(params, path) -%}
    coalesce(json_extract_string({{ params }}, '$.{{ path }}.window_string'), json_extract_string({{ params }}, '$.{{ path }}.count') || ' ' || json_extract_string({{ params }}, '$.{{ path }}.granularity'))
{%- endmacro %}
