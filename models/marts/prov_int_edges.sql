-- one row per edge of the lineage graph and interval in which this installation knew it, resource to resource
with resources as (
    select raw_id, project_name, unique_id, resource_type, document, segment, recorded_from_utc, recorded_to_utc
    from {{ dbt_provenance.relation('prov_stg_resources') }}
    where document is not null and not is_own_package
),

subjects as (
    select raw_id, project_name, unique_id, resource_type, entity_id, entity_type, entity_name, version_label, about_text
    from {{ dbt_provenance.relation('prov_int_subjects') }}
),

-- an entity's resources, by what a page may call it
called as (
    select distinct project_name, unique_id, unnest([entity_id, entity_type || '.' || entity_name, entity_name]) as called, entity_id
    from subjects
    where resource_type not in ('page', 'page_piece')
),

named_edges as (
    select
        resources.raw_id,
        unnest(cast(json_extract_string(resources.document, '$.depends_on[*]') as varchar[])) as upstream_id,
        case
            when resources.resource_type in ('metric', 'semantic_model', 'saved_query') then 'semantic'
            when resources.resource_type = 'exposure' then 'documentation'
            else 'physical'
        end as edge_kind,
        'depends on' as edge_role
    from resources
    where resources.resource_type in ('model', 'seed', 'snapshot', 'function', 'metric', 'semantic_model', 'saved_query', 'exposure')
    union all
    select distinct resources.raw_id, unnest(formulas.filter_ids), 'semantic', 'filter'
    from resources
    inner join {{ dbt_provenance.relation('prov_int_formulas') }} as formulas
        on formulas.project_name = resources.project_name and formulas.unique_id = resources.unique_id
        and coalesce(formulas.known_from_utc < resources.recorded_to_utc, true) and coalesce(resources.recorded_from_utc < formulas.known_to_utc, true)
    union all
    select subjects.raw_id, called.unique_id, 'documentation', case when subjects.entity_id = called.entity_id then 'defines' else 'about' end
    from subjects
    inner join called on called.project_name = subjects.project_name and called.called in (subjects.entity_id, subjects.about_text)
    where subjects.resource_type = 'page'
),

timed as (
    select
        resources.project_name, named_edges.upstream_id, resources.unique_id as downstream_id, named_edges.edge_kind, named_edges.edge_role,
        resources.segment, resources.recorded_from_utc, resources.recorded_to_utc, resources.raw_id
    from named_edges
    inner join resources on resources.raw_id = named_edges.raw_id
),

-- states in an unbroken row are one interval
marked as (
    select *, coalesce(lag(recorded_to_utc) over edge_rows is distinct from recorded_from_utc, true) as is_new
    from timed
    window edge_rows as (partition by project_name, upstream_id, downstream_id, edge_kind, edge_role order by raw_id)
),

islands as (
    select *, count(*) filter (where is_new) over (partition by project_name, upstream_id, downstream_id, edge_kind, edge_role order by raw_id rows unbounded preceding) as island
    from marked
),

merged as (
    select
        project_name, upstream_id, downstream_id, edge_kind, edge_role, max(segment) as segment,
        min(recorded_from_utc) as recorded_from_utc,
        case when count(*) = count(recorded_to_utc) then max(recorded_to_utc) end as recorded_to_utc
    from islands
    group by project_name, upstream_id, downstream_id, edge_kind, edge_role, island
),

nodes as (
    select * from {{ dbt_provenance.relation('prov_int_nodes') }}
),

guards as (
    select project_name, unique_id, segment, policy_id
    from {{ dbt_provenance.relation('prov_int_guards') }}
    where part_kind = ''
),

final as (
    select
        merged.project_name,
        merged.upstream_id, upstream_nodes.entity_id as upstream_entity_id, upstream_nodes.entity_type as upstream_type, upstream_nodes.version_label as upstream_version_label,
        upstream_nodes.policy_id as upstream_policy_id, upstream_nodes.evidence_id as upstream_evidence_id,
        merged.downstream_id, downstream_nodes.entity_id as downstream_entity_id, downstream_nodes.entity_type as downstream_type, downstream_nodes.version_label as downstream_version_label,
        downstream_guards.policy_id as downstream_policy_id, downstream_nodes.evidence_id as downstream_evidence_id,
        merged.edge_kind, merged.edge_role, merged.recorded_from_utc, merged.recorded_to_utc
    from merged
    left join nodes as upstream_nodes on upstream_nodes.project_name = merged.project_name and upstream_nodes.unique_id = merged.upstream_id
    left join nodes as downstream_nodes on downstream_nodes.project_name = merged.project_name and downstream_nodes.unique_id = merged.downstream_id
    left join guards as downstream_guards on downstream_guards.project_name = merged.project_name and downstream_guards.unique_id = merged.downstream_id and downstream_guards.segment = merged.segment
)

select * from final
