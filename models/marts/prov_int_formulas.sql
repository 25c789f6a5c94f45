{#- Inputs of inputs are followed this many levels deep; deeper names stay names. -#}
{%- set levels = 4 -%}
-- one row per state of a metric: its formula in the terms of measures, what the formula names, and the models it rests on
with metrics as (
    select
        raw_id, project_name, unique_id, resource_name, recorded_from_utc, coalesce(recorded_to_utc, timestamp '9999-01-01') as known_until,
        json_extract_string(document, '$.type') as metric_type,
        json_extract(document, '$.type_params') as params,
        {{ dbt_provenance.where_text("json_extract(document, '$.filter')") }} as filter_text
    from {{ dbt_provenance.relation('prov_stg_resources') }}
    where resource_type = 'metric' and document is not null
),

semantic_models as (
    select raw_id, project_name, unique_id, resource_name, recorded_from_utc, document, json_extract_string(document, '$.depends_on[0]') as model_id
    from {{ dbt_provenance.relation('prov_stg_resources') }}
    where resource_type = 'semantic_model' and document is not null
),

measures as (
    select
        semantic_models.project_name, semantic_models.unique_id as semantic_model_id, semantic_models.resource_name as semantic_model_name,
        semantic_models.recorded_from_utc, semantic_models.model_id,
        json_extract_string(measure.value, '$.name') as measure_name,
        {{ dbt_provenance.aggregation_text("json_extract_string(measure.value, '$.agg')", "coalesce(json_extract_string(measure.value, '$.expr'), json_extract_string(measure.value, '$.name'))") }} as formula
    from semantic_models, json_each(semantic_models.document, '$.measures') as measure
),

-- what a metric names directly: measures, metrics, or (in newer YAML) an aggregation over a semantic model
inputs as (
    select metrics.raw_id, 'measure' as input_kind, input.input_key, coalesce(json_extract_string(input.declared, '$.name'), json_extract_string(input.declared, '$')) as input_name,
        json_extract_string(input.declared, '$.alias') as input_alias, {{ dbt_provenance.where_text("json_extract(input.declared, '$.filter')") }} as input_filter
    from metrics, (
        values ('measure', json_extract(params, '$.measure')), ('base', json_extract(params, '$.conversion_type_params.base_measure')),
            ('conversion', json_extract(params, '$.conversion_type_params.conversion_measure'))
    ) as input (input_key, declared)
    where input.declared is not null
    union all
    select metrics.raw_id, 'metric', input.input_key, coalesce(json_extract_string(input.declared, '$.name'), json_extract_string(input.declared, '$')),
        json_extract_string(input.declared, '$.alias'), {{ dbt_provenance.where_text("json_extract(input.declared, '$.filter')") }}
    from metrics, (
        values ('numerator', json_extract(params, '$.numerator')), ('denominator', json_extract(params, '$.denominator')),
            ('metric', json_extract(params, '$.cumulative_type_params.metric')),
            ('base', json_extract(params, '$.conversion_type_params.base_metric')),
            ('conversion', json_extract(params, '$.conversion_type_params.conversion_metric'))
    ) as input (input_key, declared)
    where input.declared is not null
    union all
    select metrics.raw_id, 'metric', 'expression', json_extract_string(declared.value, '$.name'), json_extract_string(declared.value, '$.alias'),
        {{ dbt_provenance.where_text("json_extract(declared.value, '$.filter')") }}
    from metrics, json_each(metrics.params, '$.metrics') as declared
),

measured as (
    select inputs.raw_id, inputs.input_key, inputs.input_name, inputs.input_alias, inputs.input_filter, measures.formula, [measures.semantic_model_id] as named_ids,
        case when measures.model_id is not null then [measures.model_id] else cast([] as varchar[]) end as model_ids
    from inputs
    inner join metrics on metrics.raw_id = inputs.raw_id
    left join measures
        on measures.project_name = metrics.project_name and measures.measure_name = inputs.input_name and measures.recorded_from_utc < metrics.known_until
    where inputs.input_kind = 'measure'
    qualify row_number() over (partition by inputs.raw_id, inputs.input_key, inputs.input_name order by measures.recorded_from_utc desc) = 1
    union all
    select metrics.raw_id, 'measure', metrics.resource_name, null, null,
        {{ dbt_provenance.aggregation_text("json_extract_string(metrics.params, '$.metric_aggregation_params.agg')", "coalesce(json_extract_string(metrics.params, '$.metric_aggregation_params.expr'), json_extract_string(metrics.params, '$.expr'), metrics.resource_name)") }},
        case when semantic_models.unique_id is not null then [semantic_models.unique_id] else cast([] as varchar[]) end,
        case when semantic_models.model_id is not null then [semantic_models.model_id] else cast([] as varchar[]) end
    from metrics
    left join semantic_models
        on semantic_models.project_name = metrics.project_name
        and semantic_models.resource_name = json_extract_string(metrics.params, '$.metric_aggregation_params.semantic_model')
        and semantic_models.recorded_from_utc < metrics.known_until
    where json_extract(metrics.params, '$.measure') is null and json_extract_string(metrics.params, '$.metric_aggregation_params.agg') is not null
    qualify row_number() over (partition by metrics.raw_id order by semantic_models.recorded_from_utc desc) = 1
),

level_0 as (
    select metrics.raw_id, metrics.metric_type in ('simple', 'cumulative') as is_atom,
        {{ dbt_provenance.composed_formula() }} as formula,
        list_distinct(flatten(coalesce(list(input.named_ids) filter (where input.named_ids is not null), []))) as named_ids,
        list_distinct(flatten(coalesce(list(input.model_ids) filter (where input.model_ids is not null), []))) as model_ids
    from metrics
    left join (select raw_id, input_key, input_name, input_alias, {{ dbt_provenance.filtered('formula', 'input_filter') }} as input_formula, named_ids, model_ids from measured) as input
        on input.raw_id = metrics.raw_id
    group by metrics.raw_id, metrics.metric_type, metrics.params
),
{% for level in range(1, levels + 1) %}
level_{{ level }} as (
    with reached as (
        select inputs.raw_id, inputs.input_key, inputs.input_name, inputs.input_alias,
            {{ dbt_provenance.filtered("case when known.is_atom then known.formula when known.formula is not null then '(' || known.formula || ')' end", "nullif(concat_ws(' and ', inputs.input_filter, named.filter_text), '')") }} as input_formula,
            list_append(coalesce(known.named_ids, []), named.unique_id) as named_ids,
            coalesce(known.model_ids, []) as model_ids
        from inputs
        inner join metrics on metrics.raw_id = inputs.raw_id
        left join metrics as named
            on named.project_name = metrics.project_name and named.resource_name = inputs.input_name and named.recorded_from_utc < metrics.known_until
        left join level_{{ level - 1 }} as known on known.raw_id = named.raw_id
        where inputs.input_kind = 'metric'
        qualify row_number() over (partition by inputs.raw_id, inputs.input_key, inputs.input_name order by named.recorded_from_utc desc) = 1
    )

    select metrics.raw_id, metrics.metric_type in ('simple', 'cumulative') as is_atom,
        coalesce({{ dbt_provenance.composed_formula() }}, any_value(before.formula)) as formula,
        list_distinct(flatten(list_append(coalesce(list(input.named_ids) filter (where input.named_ids is not null), []), any_value(before.named_ids)))) as named_ids,
        list_distinct(flatten(list_append(coalesce(list(input.model_ids) filter (where input.model_ids is not null), []), any_value(before.model_ids)))) as model_ids
    from metrics
    inner join level_0 as before on before.raw_id = metrics.raw_id
    left join reached as input on input.raw_id = metrics.raw_id
    group by metrics.raw_id, metrics.metric_type, metrics.params
),
{% endfor %}
-- a filter names metrics, and dimensions of the semantic model whose entity stands before the two underscores
filter_names as (
    select metrics.raw_id, named.unique_id
    from metrics
    inner join metrics as named
        on named.project_name = metrics.project_name
        and list_contains(regexp_extract_all(metrics.filter_text, 'Metric\(\s*[''"]([^''"]+)[''"]', 1), named.resource_name)
    union
    select metrics.raw_id, semantic_models.unique_id
    from metrics
    inner join semantic_models
        on semantic_models.project_name = metrics.project_name
        and len(list_intersect(
            regexp_extract_all(metrics.filter_text, '(?:Dimension|Entity)\(\s*[''"]([^''"]+?)(?:__|[''"])', 1),
            cast(json_extract_string(semantic_models.document, '$.entities[*].name') as varchar[]))) > 0
),

final as (
    select
        metrics.raw_id,
        metrics.metric_type,
        composed.formula,
        metrics.filter_text,
        list_sort(list_distinct(list_concat(list_filter(composed.named_ids, lambda one_id: one_id is not null), coalesce(filtered.named_ids, [])))) as named_ids,
        coalesce(filtered.named_ids, []) as filter_ids,
        list_sort(composed.model_ids) as model_ids
    from metrics
    inner join level_{{ levels }} as composed on composed.raw_id = metrics.raw_id
    left join (select raw_id, list(unique_id) as named_ids from filter_names group by raw_id) as filtered on filtered.raw_id = metrics.raw_id
)

select * from final
