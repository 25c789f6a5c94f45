{#- The CTE `seen` of a read that shows statements: the rows of evidence that the asker may see, of all entities or of those of a CTE with
    entity_id (with the pages about them: about_entity_id), with the columns of seen_columns and what of their structured fields it may see.
    A formula has a history of its own, as what it names changes: an observed metric has one row for each of its periods, another the formula
    as known. Whoever may not see something that a statement names, or named, gets neither its formula nor a hash, and for it the statement is
    compared by its text. -#}
{% macro seen_statements(entities=none, evidence_type=none, all_periods=false) -%}
{%- if entities -%}
-- materialized, so that these few rows alone are weighed
asked_evidence as materialized (
    select evidence.*, entity_evidence.about_entity_id
    from (
        select doc_id, about_entity_id
        from {{ dbt_provenance.relation('prov_int_entity_evidence') }}
        where entity_id in (select entity_id from {{ entities }})
    ) as entity_evidence
    inner join {{ dbt_provenance.relation('prov_int_evidence') }} as evidence on evidence.doc_id = entity_evidence.doc_id
),

{% endif -%}
passing as (
    select
        {{ dbt_provenance.seen_columns('evidence') }},
        evidence.unit, evidence.text_fingerprint,
        evidence.backing_entity_id as own_backing_id, evidence.backing_version_label as own_backing_version, evidence.backing_source_uri as own_backing_uri,
        case when evidence.grain_policy_id is null or list_contains(asker.policy_list, evidence.grain_policy_id) then evidence.grain end as grain,
        {{ dbt_provenance.names_hidden('evidence') }} as is_redacted,
        {{ dbt_provenance.may_name('evidence.backing_policy_id', 'evidence.backing_entity_id', 'evidence.backing_evidence_id') }} as own_backing_is_visible,
        {{ 'evidence.about_entity_id' if entities else 'cast(null as varchar)' }} as about_entity_id,
        asker.policy_list, asker.struck_keys
    from {{ 'asked_evidence' if entities else dbt_provenance.relation('prov_int_evidence') }} as evidence
    cross join asker
    where evidence.recorded_from_utc <= asker.given_known_at
      {%- if evidence_type %}
      and evidence.evidence_type = '{{ evidence_type }}'
      {%- endif %}
      and {{ dbt_provenance.may_see('evidence') }}
),

pointed as (
    select
        passing.* exclude (policy_list, struck_keys),
        periods.formula, periods.filter_text, periods.formula_key, periods.known_from_utc as formula_known_from_utc,
        case when passing.validity_basis = 'observed' then periods.formula_from end as formula_from,
        case when passing.validity_basis = 'observed' and periods.known_to_utc <= passing.given_known_at then cast(periods.known_to_utc as date) end as formula_to,
        case when periods.doc_id is null then own_backing_is_visible
            else list_contains(policy_list, coalesce(periods.backing_policy_id, -1)) and not list_has_any(struck_keys, [periods.backing_entity_id, periods.backing_evidence_id]) end as backing_is_visible,
        case when periods.doc_id is null then own_backing_id else periods.backing_entity_id end as any_backing_id,
        case when periods.doc_id is null then own_backing_version else periods.backing_version_label end as any_backing_version,
        case when periods.doc_id is null then own_backing_uri else periods.backing_source_uri end as any_backing_uri
    from passing
    left join {{ dbt_provenance.relation('prov_int_formula_periods') }} as periods
        on periods.doc_id = passing.doc_id and not passing.is_redacted
        and periods.known_from_utc <= passing.given_known_at
        {%- if not all_periods %}
        and (coalesce(periods.known_to_utc > passing.given_known_at, true) or (passing.validity_basis = 'observed' and not periods.is_of_one_day))
        {%- endif %}
),

seen as materialized (
    select
        * exclude (any_backing_id, any_backing_version, any_backing_uri, formula_key, text_fingerprint, own_backing_id, own_backing_version, own_backing_uri, own_backing_is_visible),
        case when backing_is_visible then any_backing_id end as backing_entity_id,
        case when backing_is_visible then any_backing_version end as backing_version_label,
        case when backing_is_visible then any_backing_uri end as backing_source_uri,
        -- what makes two statements the same: formula, filter, grain, unit and backing model with its version; without a formula the text
        case
            when is_redacted and evidence_type = 'lineage' then cast(doc_id as varchar)
            when formula is null then text_fingerprint
            else sha256(concat_ws(chr(31), formula_key, coalesce(lower(grain), ''), coalesce(lower(unit), ''),
                coalesce(case when backing_is_visible then any_backing_id end, ''), coalesce(case when backing_is_visible then any_backing_version end, '')))
        end as fingerprint
    from pointed
)
{%- endmacro %}

{#- The CTE `shown`: rows of a CTE `picked` (of `standing`, or of `seen`) with the texts of their evidence. -#}
{% macro shown_ctes() -%}
shown as (
    select
        picked.*,
        evidence.revision, evidence.title, evidence.text_origin, evidence.source_uri, evidence.recorded_to_utc, evidence.owner_label, evidence.classification_text, evidence.original_file_path,
        evidence.tenant_id,
        -- a text of lineage names what it is built from
        case when not (picked.evidence_type = 'lineage' and picked.is_redacted) then evidence.definition_text end as definition_text,
        case when not picked.is_redacted then evidence.content_hash end as content_hash
    from picked
    inner join {{ dbt_provenance.relation('prov_int_evidence') }} as evidence on evidence.doc_id = picked.doc_id
)
{%- endmacro %}

{#- behind: more was captured than the tables were built from, or a build of them began and did not end. -#}
{% macro index_state() -%}
    (
        select case
            when (select coalesce(max(raw_id), 0) from {{ dbt_provenance.relation('prov_raw_resources') }}) > built.built_through_raw_id then 'behind'
            when (select max(begun_at_utc) from {{ dbt_provenance.relation('prov_int_begun') }}) is distinct from built.begun_at_utc then 'behind'
            else 'current'
        end
        from {{ dbt_provenance.relation('prov_int_build') }} as built
    )
{%- endmacro %}
