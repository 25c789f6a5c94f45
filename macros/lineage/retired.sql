{#- What is built on something deprecated, from a CTE `standing` and `asker`, as CTEs:

        retired   one row per visible resource that is deprecated, superseded or archived by the time of knowing, and what replaces it
        leaning   one row per edge from such a resource to something visible that is built on it, with a sentence that says so

    Computed when asked: a date passes without a build, and whoever may not see both ends is not told. -#}
{% macro retired_ctes() -%}
retired as (
    select standing.project_name, standing.unique_id, min(standing.entity_name) as entity_name, min(standing.version_label) as version_label,
        min(standing.deprecation_date) as deprecation_date,
        min(case when standing.status in ('superseded', 'archived') then standing.status else 'deprecated' end) as retired_status,
        min(replacing.version_label) as replacing_version
    from standing
    left join standing as replacing on replacing.evidence_id = standing.superseding_evidence_id
    where standing.evidence_type = 'definition' and standing.source_kind <> 'page'
      and coalesce(standing.next_recorded_from_utc > standing.given_known_at, true)
      and (standing.deprecation_date <= cast(standing.given_known_at as date) or standing.status in ('deprecated', 'superseded', 'archived'))
    group by standing.project_name, standing.unique_id
),

leaning as (
    select
        edges.project_name, edges.upstream_id, edges.downstream_id, edges.downstream_entity_id, edges.edge_kind, edges.edge_role, edges.recorded_from_utc,
        retired.retired_status, retired.deprecation_date, retired.replacing_version,
        'depends on ' || retired.retired_status || ' ' || retired.entity_name || coalesce(' v' || {{ dbt_provenance.plain_version('retired.version_label') }}, '')
            || coalesce(', replaced by v' || {{ dbt_provenance.plain_version('retired.replacing_version') }}, '') as warning_text
    from retired
    inner join {{ dbt_provenance.relation('prov_int_edges') }} as edges on edges.project_name = retired.project_name and edges.upstream_id = retired.unique_id
    cross join asker
    where edges.edge_role = 'depends on'
      and {{ dbt_provenance.edge_is_visible() }}
)
{%- endmacro %}

{#- `seen` and `standing` of the entities alone of which anything is or was deprecated, for reads that need no other statements. -#}
{% macro retiring_ctes() -%}
retiring as (
    select distinct entity_id
    from {{ dbt_provenance.relation('prov_int_evidence') }}
    where evidence_type = 'definition' and (deprecation_date is not null or status in ('deprecated', 'superseded', 'archived'))
),

seen as materialized (
    select {{ dbt_provenance.seen_columns('evidence') }}, cast(null as date) as formula_from, cast(null as date) as formula_to
    from {{ dbt_provenance.relation('prov_int_evidence') }} as evidence
    cross join asker
    where evidence.entity_id in (select entity_id from retiring)
      and evidence.evidence_type = 'definition'
      and evidence.recorded_from_utc <= asker.given_known_at
      and {{ dbt_provenance.may_see('evidence') }}
),

{{ dbt_provenance.standing_ctes() }},

{{ dbt_provenance.retired_ctes() }}
{%- endmacro %}
