{#- The CTE `evidence`, from `subjects` and `left_out`: one row per state and type of evidence, with its text and what it is
    compared by. type_code makes the document id unique: raw_id * 4 + type_code. -#}
{% macro evidence_by_type() -%}
definitions as (
    select
        subjects.raw_id, 0 as type_code, 'definition' as evidence_type, entity_id, entity_type, entity_name,
        coalesce(title_text, json_extract_string(document, '$.title'), json_extract_string(document, '$.label'), own_name) as title,
        {{ dbt_provenance.definition_text() }} as definition_text,
        case
            when coalesce(json_extract_string(document, '$.description'), json_extract_string(document, '$.body'), json_extract_string(document, '$.block_contents')) is not null then 'authored'
            when json_extract_string(document, '$.source_description') is not null then 'inherited'
            else 'derived'
        end as text_origin,
        formulas.formula,
        formulas.filter_text,
        coalesce(grain_text, case when resource_type = 'semantic_model' then {{ dbt_provenance.primary_entity_text() }} end) as grain,
        unit_text as unit,
        case
            when len(formulas.model_ids) = 1 then formulas.model_ids[1]
            when resource_type in ('semantic_model') then json_extract_string(document, '$.depends_on[0]')
        end as backing_id,
        coalesce(formulas.named_ids, cast([] as varchar[])) as named_ids,
        json_merge_patch(document, '{"depends_on": null, "meta": {"provenance_allow": null, "provenance_deny": null, "provenance_tenant": null},
            "meta_top": {"provenance_allow": null, "provenance_deny": null, "provenance_tenant": null}, "front_matter": {"allow": null, "deny": null, "tenant": null}}',
            left_out.patch) as content,
        coalesce(source_uri_text, original_file_path) as source_uri
    from subjects
    -- of a state, the formula as it was last known
    left join (
        select states.raw_id, known.formula, known.filter_text, known.model_ids, known.named_ids
        from subjects as states
        inner join {{ dbt_provenance.relation('prov_int_formulas') }} as known
            on known.project_name = states.project_name and known.unique_id = states.unique_id
            and coalesce(known.known_from_utc < states.recorded_to_utc, true) and coalesce(states.recorded_from_utc < known.known_to_utc, true)
        qualify row_number() over (partition by states.raw_id order by known.known_from_utc desc) = 1
    ) as formulas on formulas.raw_id = subjects.raw_id
    inner join left_out on left_out.raw_id = subjects.raw_id
    where resource_type <> 'page_piece'
),

lineages as (
    select
        raw_id, 1, 'lineage', 'lineage.' || package_name || '.' || own_name, 'lineage', own_name,
        'Lineage of ' || own_name || coalesce(' version ' || version_label, ''),
        'Lineage of ' || own_name || coalesce(' version ' || version_label, '') || ': built from ' || {{ dbt_provenance.short_names("document") }} || '.',
        'derived', null, null, null, null, unique_id,
        cast(json_extract_string(document, '$.depends_on[*]') as varchar[]),
        json_object('depends_on', json_extract(document, '$.depends_on')),
        original_file_path
    from subjects
    where resource_type in ('model', 'snapshot') and json_extract(document, '$.depends_on') is not null
),

freshness_policies as (
    select
        raw_id, 2, 'freshness_policy', 'freshness.' || package_name || '.' || own_name, 'freshness', own_name,
        'Freshness policy of ' || own_name,
        'Freshness policy of ' || own_name || ': ' || concat_ws(', ', {{ dbt_provenance.period_text('warn') }}, {{ dbt_provenance.period_text('error') }})
            || coalesce(', by ' || coalesce(json_extract_string(document, '$.loaded_at_query'), json_extract_string(document, '$.loaded_at_field')), '')
            || '. This is an expectation, not evidence of when data was last loaded.',
        'derived', null, null, null, null, unique_id, cast([] as varchar[]),
        json_object('freshness', json_extract(document, '$.freshness'), 'field', json_extract(document, '$.loaded_at_field'), 'query', json_extract(document, '$.loaded_at_query')),
        original_file_path
    from subjects
    where resource_type = 'source' and (json_extract(document, '$.freshness.warn_after.count') is not null or json_extract(document, '$.freshness.error_after.count') is not null)
),

pieces as (
    select
        raw_id, 3, 'page_piece', entity_id, entity_type, entity_name, coalesce(title_text || ': ', '') || json_extract_string(document, '$.heading'),
        json_extract_string(document, '$.text'), 'authored', null, null, null, null, null, cast([] as varchar[]), document, coalesce(source_uri_text, original_file_path)
    from subjects
    where resource_type = 'page_piece'
),

stated as (
    select * from definitions union all select * from lineages union all select * from freshness_policies union all select * from pieces
),

evidence as (
    select
        * exclude (content),
        sha256(cast(content as varchar)) as content_hash,
        -- what makes two statements the same: formula, filter, grain, unit and backing model; without a formula the text, white space folded
        sha256(case when formula is not null
            then concat_ws(chr(31), 'formula', regexp_replace(lower(formula), '\s', '', 'g'), regexp_replace(lower(coalesce(filter_text, '')), '\s', '', 'g'),
                coalesce(lower(grain), ''), coalesce(lower(unit), ''), coalesce(backing_id, ''))
            else {{ dbt_provenance.folded_text('definition_text') }} end) as fingerprint,
        sha256({{ dbt_provenance.folded_text('definition_text') }}) as text_fingerprint
    from stated
)
{%- endmacro %}

{% macro folded_text(text_sql) -%}
    concat_ws(chr(31), 'text', trim(regexp_replace({{ text_sql }}, '\s+', ' ', 'g')))
{%- endmacro %}

{#- The author's text verbatim; a source's own text before the one it inherits; where nobody wrote any, what dbt knows in a sentence. -#}
{% macro definition_text() -%}
    coalesce(
        json_extract_string(document, '$.description'), json_extract_string(document, '$.body'), json_extract_string(document, '$.block_contents'),
        json_extract_string(document, '$.source_description'),
        replace(upper(left(resource_type, 1)) || substr(resource_type, 2), '_', ' ') || ' ' || own_name || coalesce(' version ' || version_label, '') || ' of project ' || package_name || ', without a description.'
    )
{%- endmacro %}

{% macro primary_entity_text() -%}
    coalesce(
        json_extract_string(document, '$.primary_entity'),
        list_filter(cast(json_extract(document, '$.entities[*]') as json[]), lambda one_entity: json_extract_string(one_entity, '$.type') in ('primary', 'unique'))[1] ->> '$.name'
    )
{%- endmacro %}

{#- What a resource depends on, in short: without type and project. -#}
{% macro short_names(document) -%}
    array_to_string(list_transform(cast(json_extract_string({{ document }}, '$.depends_on[*]') as varchar[]), lambda one_id: regexp_replace(one_id, '^[a-z_]+\.[^.]+\.', '')), ', ')
{%- endmacro %}

{% macro period_text(level) -%}
    '{{ level }} after ' || json_extract_string(document, '$.freshness.{{ level }}_after.count') || ' ' || json_extract_string(document, '$.freshness.{{ level }}_after.period')
        || case when json_extract_string(document, '$.freshness.{{ level }}_after.count') = '1' then '' else 's' end
{%- endmacro %}
