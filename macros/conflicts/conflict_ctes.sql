{#- The pairs of visible statements that contradict or repeat each other, from `asker`, as the CTE `pairs`:

        governing             two that may govern one entity differ
        draft, page           a draft, or a superseded page, says otherwise than what governs
        duplicate             one formula for two entities, or one statement made twice
        same_name             one name, however it is spelled, for two formulas
        foreign_description   a project describes a relation that another one builds

    Whatever is compared is found by equality of a key: entity, fingerprint, parts of the name, relation. -#}
{% macro conflict_ctes() -%}
{{ dbt_provenance.seen_statements(evidence_type='definition') }},

{{ dbt_provenance.standing_ctes() }},

picked as (
    select * from standing where interval_is_sound and coalesce(holds_from < holds_to, true) and not holds_when_asked_only
),

{{ dbt_provenance.shown_ctes() }},

sides as materialized (
    select doc_id, project_name, unique_id, entity_id, entity_name, evidence_id, version_label, status, formula, filter_text, definition_text, text_origin, fingerprint, holds_from, holds_to, may_govern, source_kind, relation_name,
        tenant_id, status_rank, kind_rank, status_rank * 100 + kind_rank as side_rank,
        min(status_rank * 100 + kind_rank) filter (where may_govern) over (partition by entity_id) as best_rank,
        -- of observed statements and formulas earlier ones stand, too, for the dates of their own
        coalesce(next_recorded_from_utc > given_known_at, true) and coalesce(gone_from_utc > given_known_at, true) and formula_to is null as is_newest
    from shown
),

-- the parts of a name, by which total_revenue and TotalRevenue are one
named_sides as (
    select sides as side, names.span_key
    from sides
    inner join {{ dbt_provenance.relation('prov_int_names') }} as names
        on names.doc_id = sides.doc_id and names.tier = 2 and names.term = lower(sides.entity_name)
    where sides.formula is not null and sides.may_govern and names.span_key <> ''
),

compared as (
    {{ dbt_provenance.compared_on_one_entity() }}
    union all
    select 'page', governed, pages
    from (
        select about.about_entity_id, sides as pages
        from sides
        inner join {{ dbt_provenance.relation('prov_int_entity_evidence') }} as about on about.doc_id = sides.doc_id and about.about_entity_id is not null
        where sides.status in ('draft', 'superseded')
    ) as speaking
    inner join (select entity_id, sides as governed from sides where may_govern and source_kind <> 'page') as spoken_of on spoken_of.entity_id = speaking.about_entity_id
    union all
    select 'duplicate', one_side, other_side
    from sides as one_side
    inner join sides as other_side on other_side.fingerprint = one_side.fingerprint and other_side.tenant_id = one_side.tenant_id and one_side.entity_id < other_side.entity_id
    where one_side.formula is not null and one_side.may_govern and other_side.may_govern
    union all
    select 'same_name', one_name.side, other_name.side
    from named_sides as one_name
    inner join named_sides as other_name on other_name.span_key = one_name.span_key and other_name.side.tenant_id = one_name.side.tenant_id
    where one_name.side.entity_id < other_name.side.entity_id and one_name.side.fingerprint <> other_name.side.fingerprint
    union all
    select 'foreign_description', one_side, other_side
    from sides as one_side
    inner join sides as other_side on other_side.relation_name = one_side.relation_name and other_side.tenant_id = one_side.tenant_id
    where other_side.source_kind = 'other_project' and other_side.text_origin <> 'derived'
      and one_side.source_kind = 'building_project' and one_side.may_govern and one_side.definition_text <> other_side.definition_text
),

pairs as (
    select
        compared.conflict_kind, compared.one_side, compared.other_side,
        greatest(one_side.holds_from, other_side.holds_from) as overlaps_from,
        least(one_side.holds_to, other_side.holds_to) as overlaps_to,
        one_side.is_newest and other_side.is_newest as is_newest,
        {{ dbt_provenance.decided_by() }} as decided_by
    from compared
    where one_side.evidence_id <> other_side.evidence_id
      and coalesce(one_side.holds_from < other_side.holds_to, true) and coalesce(other_side.holds_from < one_side.holds_to, true)
)
{%- endmacro %}

{#- Of statements on one entity: two formulas, or two texts of the best rank that there is; the same twice; a draft, or a superseded page. -#}
{% macro compared_on_one_entity() -%}
    select
        case when other_side.status = 'draft' then 'draft' when one_side.fingerprint = other_side.fingerprint then 'duplicate'
            when other_side.source_kind = 'page' and other_side.status = 'superseded' then 'page' else 'governing' end as conflict_kind,
        one_side, other_side
    from sides as one_side
    inner join sides as other_side on other_side.entity_id = one_side.entity_id
    where one_side.may_govern
      and (
          other_side.status = 'draft'
          or (other_side.may_govern and one_side.fingerprint = other_side.fingerprint and one_side.evidence_id < other_side.evidence_id and one_side.side_rank = other_side.side_rank)
          or (one_side.source_kind <> 'page' and other_side.source_kind = 'page' and other_side.status = 'superseded')
          or (
              other_side.may_govern and one_side.fingerprint <> other_side.fingerprint and (one_side.side_rank, one_side.evidence_id) < (other_side.side_rank, other_side.evidence_id)
              and ((one_side.formula is not null and other_side.formula is not null) or (one_side.side_rank = other_side.side_rank and one_side.side_rank = one_side.best_rank))
          )
      )
{%- endmacro %}

{#- What decides between the two sides of a pair. -#}
{% macro decided_by() -%}
    case
        when conflict_kind = 'foreign_description' then 'ownership: the project that builds the relation speaks for it'
        when other_side.status = 'draft' then 'status: a draft decides nothing'
        when conflict_kind = 'page' then 'status: what is superseded decides nothing'
        when conflict_kind = 'duplicate' and one_side.entity_id = other_side.entity_id then 'nothing to decide: the same is said twice'
        when conflict_kind = 'duplicate' then 'nothing: two entities for one formula'
        when conflict_kind = 'same_name' then 'nothing: one name for two formulas'
        when one_side.status_rank < other_side.status_rank then 'status: ' || one_side.status || ' before ' || other_side.status
        when one_side.side_rank < other_side.side_rank then 'kind: ' || regexp_extract(one_side.evidence_id, '/([a-z_]+)\.', 1) || ' before ' || regexp_extract(other_side.evidence_id, '/([a-z_]+)\.', 1)
        else 'nothing: a person must decide'
    end
{%- endmacro %}
