{{ config(alias='health') }}
-- one row per entity with a definition that the asker may see: what governs it today, and how it and what it rests on are doing
with {{ dbt_provenance.session_ctes() }},

{{ dbt_provenance.visible_resource_ctes() }},

{{ dbt_provenance.seen_statements(evidence_type='definition') }},

{{ dbt_provenance.standing_ctes() }},

{{ dbt_provenance.governing_ctes() }},

{{ dbt_provenance.freshness_ctes() }},

{{ dbt_provenance.upstream_ctes() }},

{{ dbt_provenance.last_results_cte() }},

{{ dbt_provenance.test_outcomes_cte() }},

-- the resources that stand for an entity: those of the version that governs, where a resource governs; else all
entity_resources as (
    select governing.entity_id, states.* exclude (entity_id)
    from governing
    inner join upstream_states as states on states.entity_id = governing.entity_id
    where governing.unique_id is null or governing.source_kind = 'page'
       or (states.project_name = governing.project_name and states.unique_id = governing.unique_id)
),

rested as (
    select
        entity_id,
        max(worst_rank) as worst_rank,
        arg_max({'source_project': project_name, 'source_id': worst_source_id}, {'worst_rank': worst_rank, 'source_id': worst_source_id})
            filter (where worst_rank is not null) as worst_source,
        bool_or(is_incomplete) as is_incomplete,
        bool_or(has_lineage) as has_lineage
    from entity_resources
    group by entity_id
),

-- what is run and tested: the entity itself, of what is not built (a metric) the model that it rests on
run_resources as (
    select entity_id, project_name, unique_id, entity_id as run_entity_id
    from entity_resources
    where resource_type not in ('metric', 'semantic_model', 'saved_query', 'exposure')
    union all
    select distinct governing.entity_id, states.project_name, states.unique_id, governing.backing_entity_id
    from governing
    inner join upstream_states as states
        on states.entity_id = governing.backing_entity_id and states.version_label is not distinct from governing.backing_version_label
    where governing.entity_type in ('metric', 'semantic_model', 'saved_query', 'exposure')
),

last_runs as (
    select
        run_resources.entity_id,
        max(run_resources.run_entity_id) as run_entity_id,
        arg_max(
            {'invocation': last_results.invocation_id, 'ran_at': last_results.ran_at_utc, 'status': last_results.run_status},
            {'ran_at': last_results.ran_at_utc, 'unique_id': last_results.unique_id}
        ) filter (where last_results.unique_id is not null) as last_run
    from run_resources
    left join last_results
        on last_results.project_name = run_resources.project_name and last_results.unique_id = run_resources.unique_id
    group by run_resources.entity_id
),

tested as (
    select
        entity_id,
        {%- for outcome in ['passed', 'failed', 'unknown'] %}
        count(*) filter (where test_outcome = '{{ outcome }}') as tests_{{ outcome }}{{ ',' if not loop.last }}
        {%- endfor %}
    from (
        select distinct run_resources.entity_id, test_outcomes.test_id, test_outcomes.test_outcome
        from run_resources
        inner join test_outcomes on test_outcomes.project_name = run_resources.project_name and test_outcomes.parent_id = run_resources.unique_id
    ) as tests
    group by entity_id
),

found as (
    select entity_id, count(*) as open_findings
    from {{ dbt_provenance.relation('provenance__findings') }}
    group by entity_id
),

disputed as (
    select entity_id, count(*) as open_conflicts
    from (
        select unnest(list_distinct([entity_id, other_entity_id])) as entity_id
        from {{ dbt_provenance.relation('provenance__conflicts') }}
    ) as sides
    group by entity_id
),

final as (
    select
        governing.*,
        last_runs.run_entity_id,
        last_runs.last_run,
        {%- for outcome in ['passed', 'failed', 'unknown'] %}
        case when last_runs.entity_id is not null then coalesce(tested.tests_{{ outcome }}, 0) end as tests_{{ outcome }},
        {%- endfor %}
        case
            when rested.entity_id is null or (rested.worst_rank is null and not rested.has_lineage) then 'unknown'
            when rested.is_incomplete and coalesce(rested.worst_rank, 1) = 1 then 'unknown'
            when rested.worst_rank is null then 'no source'
            else worst.freshness_state
        end as upstream_freshness,
        worst.state_reason as worst_reason,
        worst.entity_id as worst_entity_id,
        case
            when rested.entity_id is null or not rested.has_lineage then 'unknown'
            when rested.is_incomplete then 'incomplete'
            else 'known'
        end as lineage_state,
        coalesce(rested.is_incomplete, false) as is_incomplete,
        coalesce(found.open_findings, 0) as open_findings,
        coalesce(disputed.open_conflicts, 0) as open_conflicts
    from governing
    left join rested on rested.entity_id = governing.entity_id
    left join freshness_states as worst on worst.project_name = rested.worst_source.source_project and worst.unique_id = rested.worst_source.source_id
    left join last_runs on last_runs.entity_id = governing.entity_id
    left join tested on tested.entity_id = governing.entity_id
    left join found on found.entity_id = governing.entity_id
    left join disputed on disputed.entity_id = governing.entity_id
)

select
    entity_id,
    entity_type,
    governing_reason,
    evidence_id as governing_evidence_id,
    version_label as governing_version,
    status,
    owner_label as owner_name,
    run_entity_id,
    last_run.invocation as last_invocation_id,
    last_run.ran_at as last_run_at_utc,
    last_run.status as last_run_status,
    tests_passed,
    tests_failed,
    tests_unknown,
    upstream_freshness,
    case upstream_freshness
        when 'unknown' then 'not all that it rests on is known or may be shown'
        when 'no source' then 'it rests on no source'
        else worst_reason
    end as upstream_freshness_reason,
    case when upstream_freshness not in ('unknown', 'no source') then worst_entity_id end as upstream_freshness_source,
    lineage_state,
    is_incomplete as has_redacted_upstream,
    open_findings,
    open_conflicts
from final
