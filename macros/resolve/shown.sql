{#- CTEs from a CTE `picked` (rows of `standing`) to what may be shown of them: pointers only to what is visible, structured fields that name
    something hidden are null. -#}
{% macro shown_ctes() -%}
visible_nodes as materialized (
    select nodes.unique_id, nodes.project_name, nodes.entity_id, nodes.version_label, nodes.source_uri
    from {{ dbt_provenance.relation('prov_int_nodes') }} as nodes
    where nodes.unique_id in (select unnest(list_append(named_ids, backing_id)) from picked)
      and nodes.policy_id in (select policy_id from visible_policies)
      and {{ dbt_provenance.is_not_struck('nodes.entity_id', 'nodes.evidence_id') }}
),

named_counts as (
    select naming.doc_id, count(*) as name_count, count(visible_nodes.unique_id) as visible_count
    from (select doc_id, project_name, unnest(list_distinct(named_ids)) as named_id from picked) as naming
    left join visible_nodes on visible_nodes.unique_id = naming.named_id and visible_nodes.project_name = naming.project_name
    group by naming.doc_id
),

shown as (
    select
        picked.* exclude (formula, filter_text, definition_text, content_hash, fingerprint),
        coalesce(named_counts.visible_count < named_counts.name_count, false) as is_redacted,
        case when not coalesce(named_counts.visible_count < named_counts.name_count, false) then picked.formula end as formula,
        case when not coalesce(named_counts.visible_count < named_counts.name_count, false) then picked.filter_text end as filter_text,
        case when not (picked.evidence_type = 'lineage' and coalesce(named_counts.visible_count < named_counts.name_count, false)) then picked.definition_text end as definition_text,
        case when not coalesce(named_counts.visible_count < named_counts.name_count, false) then picked.content_hash end as content_hash,
        case when not coalesce(named_counts.visible_count < named_counts.name_count, false) then picked.fingerprint end as fingerprint,
        visible_nodes.entity_id as backing_entity_id,
        visible_nodes.version_label as backing_version_label,
        visible_nodes.source_uri as backing_source_uri
    from picked
    left join named_counts on named_counts.doc_id = picked.doc_id
    left join visible_nodes on visible_nodes.unique_id = picked.backing_id and visible_nodes.project_name = picked.project_name
)
{%- endmacro %}

{% macro index_state() -%}
    (
        select case when (select coalesce(max(raw_id), 0) from {{ dbt_provenance.relation('prov_raw_resources') }}) > built.built_through_raw_id then 'behind' else 'current' end
        from {{ dbt_provenance.relation('prov_int_build') }} as built
    )
{%- endmacro %}
