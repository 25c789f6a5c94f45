{#- Entities that answer to one text but of which one is built on the other (a model, the semantic model on it, the metric on that) are no
    rivals: the best kind stands for all; nor is a source of another project over the relation that one of them builds. From `hits` and `asker`, the CTE `outranked`. The walk goes through visible nodes only. -#}
{% macro rival_ctes() -%}
rivals as materialized (
    select entity_id, min(kind_rank) as kind_rank, min(project_name) as project_name
    from hits
    group by entity_id
    qualify count(*) over () > 1
),

-- none are read where there are no rivals
rival_edges as materialized (
    select edges.upstream_id, edges.downstream_id, edges.upstream_entity_id
    from {{ dbt_provenance.relation('prov_int_edges') }} as edges
    cross join asker
    where edges.project_name in (select project_name from rivals)
      and edges.edge_kind <> 'documentation'
      and {{ dbt_provenance.edge_is_visible() }}
),

ancestry as (
    with recursive walked as (
        select rivals.entity_id as root_entity_id, rivals.entity_id as reached_entity_id, hits.unique_id as node_id, 0 as steps
        from rivals
        inner join hits on hits.entity_id = rivals.entity_id
        union
        select walked.root_entity_id, edges.upstream_entity_id, edges.upstream_id, walked.steps + 1
        from walked
        inner join rival_edges as edges on edges.downstream_id = walked.node_id
        where walked.steps < 6
    )

    select distinct root_entity_id, reached_entity_id from walked where root_entity_id <> reached_entity_id
),

outranked as (
    select weaker.entity_id
    from rivals as weaker
    inner join rivals as stronger on stronger.entity_id <> weaker.entity_id
    inner join ancestry
        on (ancestry.root_entity_id = stronger.entity_id and ancestry.reached_entity_id = weaker.entity_id)
        or (ancestry.root_entity_id = weaker.entity_id and ancestry.reached_entity_id = stronger.entity_id)
    where stronger.kind_rank < weaker.kind_rank
       or (stronger.kind_rank = weaker.kind_rank and ancestry.root_entity_id = stronger.entity_id)
    union
    select sources.entity_id
    from hits as sources
    inner join hits as builders
        on builders.relation_name = sources.relation_name and builders.entity_id <> sources.entity_id and builders.source_kind = 'building_project'
    where sources.source_kind = 'other_project'
)
{%- endmacro %}
