{#- Inputs of inputs are followed this many levels deep; deeper names stay names. -#}
{%- set levels = 5 -%}
{%- set always_utc, open_utc = "timestamp '0001-01-01'", "timestamp '9999-01-01'" -%}
-- one row per metric and interval in which its formula, in the terms of measures, was known to be the same: what it names and rests on
-- depends_on: {{ dbt_provenance.relation('prov_int_begun') }}
with recursive states as (
    select project_name, unique_id, resource_type, resource_name, document, json_extract_string(document, '$.depends_on[0]') as model_id,
        recorded_from_utc as from_utc, coalesce(recorded_to_utc, {{ open_utc }}) as until_utc
    from {{ dbt_provenance.relation('prov_stg_resources') }}
    where resource_type in ('metric', 'semantic_model') and document is not null and coalesce(recorded_from_utc < recorded_to_utc, true)
),

-- all that a metric can name
named_states as (
    select project_name, unique_id, from_utc, until_utc, 'metric' as input_kind, resource_name as input_name, cast(null as varchar) as formula, cast(null as varchar) as model_id,
        cast([] as varchar[]) as dimension_names, json_extract_string(document, '$.type') as metric_type, json_extract(document, '$.type_params') as params,
        {{ dbt_provenance.where_text("json_extract(document, '$.filter')") }} as filter_text
    from states
    where resource_type = 'metric'
    union all
    select project_name, unique_id, from_utc, until_utc, 'semantic_model', resource_name, null, model_id, [], null, null, null
    from states
    where resource_type = 'semantic_model'
    union all
    select project_name, unique_id, from_utc, until_utc, 'measure', json_extract_string(measure.value, '$.name'),
        {{ dbt_provenance.aggregation_text("json_extract_string(measure.value, '$.agg')", "coalesce(json_extract_string(measure.value, '$.expr'), json_extract_string(measure.value, '$.name'))") }},
        model_id, [], null, null, null
    from states, json_each(states.document, '$.measures') as measure
    where resource_type = 'semantic_model'
    union all
    select project_name, unique_id, from_utc, until_utc, 'entity',
        unnest(list_distinct(list_append(cast(json_extract_string(document, '$.entities[*].name') as varchar[]), json_extract_string(document, '$.primary_entity')))),
        null, null, cast(json_extract_string(document, '$.dimensions[*].name') as varchar[]), null, null, null
    from states
    where resource_type = 'semantic_model'
),

-- the first that bears a name is open backwards: what a metric names may have been recorded a moment after it
nameable as (
    select
        *,
        case when from_utc = min(from_utc) over (partition by project_name, input_kind, input_name) then {{ always_utc }} else from_utc end as holds_from_utc,
        row_number() over (order by project_name, unique_id, input_kind, input_name, from_utc) as state_id
    from ({{ dbt_provenance.merged_states('named_states', 'project_name, unique_id, input_kind, input_name', ['formula', 'model_id', 'dimension_names', 'metric_type', 'params', 'filter_text']) }})
),

metrics as (
    select * from nameable where input_kind = 'metric'
),

-- what a metric names directly: measures, metrics, or (in newer YAML) an aggregation over a semantic model
declared_inputs as (
    select metrics.state_id, 'measure' as input_kind, input.input_key, input.declared
    from metrics, (
        values ('measure', json_extract(params, '$.measure')), ('base', json_extract(params, '$.conversion_type_params.base_measure')),
            ('conversion', json_extract(params, '$.conversion_type_params.conversion_measure'))
    ) as input (input_key, declared)
    union all
    select metrics.state_id, 'metric', input.input_key, input.declared
    from metrics, (
        values ('numerator', json_extract(params, '$.numerator')), ('denominator', json_extract(params, '$.denominator')),
            ('metric', json_extract(params, '$.cumulative_type_params.metric')),
            ('base', json_extract(params, '$.conversion_type_params.base_metric')),
            ('conversion', json_extract(params, '$.conversion_type_params.conversion_metric'))
    ) as input (input_key, declared)
    union all
    select metrics.state_id, 'metric', 'expression', declared.value
    from metrics, json_each(metrics.params, '$.metrics') as declared
),

inputs as (
    select state_id, input_kind, input_key, coalesce(json_extract_string(declared, '$.name'), json_extract_string(declared, '$')) as input_name,
        json_extract_string(declared, '$.alias') as input_alias, {{ dbt_provenance.where_text("json_extract(declared, '$.filter')") }} as input_filter,
        {{ dbt_provenance.offset_text('declared') }} as input_offset, cast(null as varchar) as own_formula, cast([] as varchar[]) as name_path
    from declared_inputs
    where declared is not null
    union all
    select state_id, 'semantic_model', 'measure', json_extract_string(params, '$.metric_aggregation_params.semantic_model'), null, null, null,
        {{ dbt_provenance.aggregation_text("json_extract_string(params, '$.metric_aggregation_params.agg')", "coalesce(json_extract_string(params, '$.metric_aggregation_params.expr'), json_extract_string(params, '$.expr'), input_name)") }}, []
    from metrics
    where json_extract(params, '$.measure') is null and json_extract_string(params, '$.metric_aggregation_params.agg') is not null
),

-- a filter names metrics, and dimensions by a path over entities: order__customer__country
filter_calls as (
    select state_id, input_key,
        unnest(regexp_extract_all(filter_text, '(Metric|Dimension|Entity)\(\s*[''"]([^''"]+)[''"]', 1)) as call_name,
        unnest(regexp_extract_all(filter_text, '(Metric|Dimension|Entity)\(\s*[''"]([^''"]+)[''"]', 2)) as called
    from (select state_id, 'filter' as input_key, filter_text from metrics union all select state_id, 'filter of input', input_filter from inputs)
),

names as (
    select *, row_number() over (order by state_id, input_kind, input_key, input_name, input_alias, input_filter, input_offset, name_path) as name_id
    from (
        select * from inputs
        union all
        select distinct state_id, 'metric', input_key, called, null, null, null, null, [] from filter_calls where call_name = 'Metric'
        union all
        select distinct state_id, 'entity', input_key, unnest(string_split(called, '__')), null, null, null, null, string_split(called, '__') from filter_calls where call_name <> 'Metric'
    )
),

-- whatever a metric names, itself or through what it names: the moments of all of it are where its formula may change
reached as (
    select metrics.project_name, metrics.unique_id, names.input_kind, names.input_name, 1 as depth
    from metrics
    inner join names on names.state_id = metrics.state_id
    union
    select reached.project_name, reached.unique_id, names.input_kind, names.input_name, reached.depth + 1
    from reached
    inner join metrics on metrics.project_name = reached.project_name and metrics.input_name = reached.input_name
    inner join names on names.state_id = metrics.state_id
    where reached.input_kind = 'metric' and reached.depth < {{ levels }}
),

moments as (
    select distinct reached.project_name, reached.unique_id, unnest([nameable.holds_from_utc, nameable.until_utc]) as moment_utc
    from reached
    inner join nameable
        on nameable.project_name = reached.project_name and nameable.input_kind = reached.input_kind and nameable.input_name = reached.input_name
    where nameable.holds_from_utc > {{ always_utc }} or nameable.until_utc < {{ open_utc }}
),

starts as (
    select state_id, holds_from_utc as starts_utc
    from metrics
    union
    select metrics.state_id, moments.moment_utc
    from metrics
    inner join moments
        on moments.project_name = metrics.project_name and moments.unique_id = metrics.unique_id
        and moments.moment_utc > metrics.holds_from_utc and moments.moment_utc < metrics.until_utc
),

-- within a slice nothing changes that the metric names
slices as (
    select metrics.* exclude (until_utc), starts.starts_utc, coalesce(lead(starts.starts_utc) over (partition by metrics.state_id order by starts.starts_utc), metrics.until_utc) as until_utc,
        row_number() over (order by metrics.state_id, starts.starts_utc) as slice_id
    from metrics
    inner join starts on starts.state_id = metrics.state_id
),

-- what a name meant when the slice began: the last that took it, and for a filter each model of the entity; what is gone by then stays
-- named, so that whoever may not see it does not see its name, and gives nothing
meanings as (
    select
        slices.slice_id, slices.starts_utc, names.*, nameable.* exclude (state_id, input_kind, input_name), nameable.state_id as named_state_id,
        coalesce(slices.starts_utc < nameable.until_utc, false) as is_alive
    from slices
    inner join names on names.state_id = slices.state_id
    left join nameable
        on nameable.project_name = slices.project_name and nameable.input_kind = names.input_kind and nameable.input_name = names.input_name
        and nameable.holds_from_utc <= slices.starts_utc
    qualify rank() over (
        partition by slices.slice_id, names.name_id
        order by is_alive desc, case when names.input_kind <> 'entity' then nameable.holds_from_utc end desc, case when names.input_kind <> 'entity' then nameable.unique_id end) = 1
),

uses as (
    select
        meanings.slice_id, meanings.input_key, meanings.input_name, meanings.input_alias, meanings.input_offset,
        nullif(concat_ws(' and ', meanings.input_filter, meanings.filter_text), '') as input_filter,
        coalesce(meanings.own_formula, case when meanings.is_alive then meanings.formula end) as input_formula,
        named_slices.slice_id as named_slice_id,
        meanings.metric_type in ('simple', 'cumulative') as is_atom,
        case when meanings.unique_id is null then [] else [meanings.unique_id] end as named_ids,
        case meanings.input_kind
            when 'measure' then [meanings.unique_id || '#measure#' || meanings.input_name]
            when 'entity' then list_prepend(meanings.unique_id || '#entity#' || meanings.input_name,
                list_transform(list_intersect(meanings.dimension_names, meanings.name_path), lambda dimension_name: meanings.unique_id || '#dimension#' || dimension_name))
            else []
        end as named_parts,
        case when meanings.is_alive and meanings.model_id is not null then [meanings.model_id] else [] end as model_ids
    from meanings
    left join slices as named_slices
        on named_slices.state_id = meanings.named_state_id and meanings.input_key not in ('filter', 'filter of input')
        and named_slices.starts_utc <= meanings.starts_utc and meanings.starts_utc < named_slices.until_utc
),

level_0 as (
    select slice_id, cast(null as varchar) as formula, cast([] as varchar[]) as named_ids, cast([] as varchar[]) as named_parts, cast([] as varchar[]) as model_ids
    from slices
    where false
),
{% for level in range(1, levels + 1) %}
level_{{ level }} as (
    with reached_uses as (
        select uses.* replace (
            {{ dbt_provenance.filtered("coalesce(uses.input_formula, case when uses.is_atom then known.formula else '(' || known.formula || ')' end)", "uses.input_filter") }} || coalesce(' ' || uses.input_offset, '') as input_formula,
            {%- for column_name in ['named_ids', 'named_parts', 'model_ids'] %}
            list_concat(uses.{{ column_name }}, known.{{ column_name }}) as {{ column_name }}{{ ',' if not loop.last }}
            {%- endfor %})
        from uses
        left join level_{{ level - 1 }} as known on known.slice_id = uses.named_slice_id
    )

    select
        metrics.slice_id,
        {{ dbt_provenance.composed_formula() }} as formula,
        {%- for column_name in ['named_ids', 'named_parts', 'model_ids'] %}
        list_sort(list_distinct(flatten(coalesce(list(input.{{ column_name }}) filter (where input.slice_id is not null), [])))) as {{ column_name }}{{ ',' if not loop.last }}
        {%- endfor %}
    from slices as metrics
    left join reached_uses as input on input.slice_id = metrics.slice_id
    group by metrics.slice_id, metrics.metric_type, metrics.params
),
{% endfor %}
filtered as (
    select slice_id, list_sort(list_distinct(flatten(list(named_ids)))) as filter_ids
    from uses
    where input_key = 'filter'
    group by slice_id
),

composed as (
    select
        slices.project_name, slices.unique_id, slices.metric_type, greatest(slices.starts_utc, slices.from_utc) as from_utc, slices.until_utc,
        level_{{ levels }}.formula, slices.filter_text, coalesce(filtered.filter_ids, []) as filter_ids,
        level_{{ levels }}.named_ids, level_{{ levels }}.named_parts, level_{{ levels }}.model_ids
    from slices
    inner join level_{{ levels }} on level_{{ levels }}.slice_id = slices.slice_id
    left join filtered on filtered.slice_id = slices.slice_id
    where slices.from_utc < slices.until_utc
),

final as (
    select
        project_name,
        unique_id,
        metric_type,
        from_utc as known_from_utc,
        nullif(until_utc, {{ open_utc }}) as known_to_utc,
        formula,
        filter_text,
        filter_ids,
        named_ids,
        named_parts,
        model_ids
    from ({{ dbt_provenance.merged_states('composed', 'project_name, unique_id', ['metric_type', 'formula', 'filter_text', 'filter_ids', 'named_ids', 'named_parts', 'model_ids']) }})
)

select * from final
