{#- What governs each entity today (UTC), by the rows 8 and 11 to 14 of the decision table: from `standing` the CTE `governing`, one row an entity,
    with the statement that decides (its columns, null where none does) and why. -#}
{% macro governing_ctes() -%}
ahead as (
    select
        *,
        count(*) over (partition by entity_id) > 1 as is_tied,
        min(fingerprint) over (partition by entity_id) <> max(fingerprint) over (partition by entity_id) as is_disputed,
        row_number() over (partition by entity_id order by coalesce(holds_from, date '0001-01-01') desc, evidence_id) as place
    from (
        select *
        from standing
        where may_govern and {{ dbt_provenance.holds_on('standing', 'cast(standing.given_known_at as date)') }}
        qualify rank() over (partition by entity_id order by {{ dbt_provenance.status_rank_on('standing', 'cast(standing.given_known_at as date)') }}, kind_rank) = 1
    ) as best
),

picked as (
    select * from ahead where place = 1 and not is_disputed
),

{{ dbt_provenance.shown_ctes() }},

governing as (
    select
        entities.entity_id, entities.entity_type,
        case
            when not entities.has_governing then 'only_non_governing'
            when ahead.entity_id is null then 'no_version_on_date'
            when ahead.is_disputed then 'conflict'
            when ahead.is_tied then 'duplicate_equal'
            else 'governs'
        end as governing_reason,
        shown.evidence_id, shown.version_label, shown.owner_label, shown.project_name, shown.unique_id, shown.source_kind,
        shown.backing_entity_id, shown.backing_version_label,
        case when shown.deprecation_date <= cast(shown.given_known_at as date) and shown.status_rank < 4 then 'deprecated' else shown.status end as status
    from (
        select entity_id, max(entity_type) as entity_type, bool_or(may_govern) as has_governing
        from standing
        group by entity_id
    ) as entities
    left join ahead on ahead.entity_id = entities.entity_id and ahead.place = 1
    left join shown on shown.entity_id = entities.entity_id
)
{%- endmacro %}
