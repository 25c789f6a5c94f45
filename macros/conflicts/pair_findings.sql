{#- From `pairs`, what is wrong with two statements of one entity and rank that are both the newest: they overlap, both are open, or they say the
    same. A query, one row a finding. -#}
{% macro pair_findings() -%}
    select
        case when conflict_kind = 'duplicate' then 'duplicate' when one_side.holds_to is null and other_side.holds_to is null then 'two open rows' else 'overlapping validity' end as finding_rule,
        one_side.project_name as project_name, one_side.unique_id as unique_id, one_side.entity_id as entity_id,
        case when conflict_kind = 'duplicate' then 'provenance_version' else 'provenance_valid_to' end as field_name,
        case
            when conflict_kind = 'duplicate' then one_side.version_label
            when one_side.holds_to is null and other_side.holds_to is null then 'open'
            else concat_ws(' to ', coalesce(cast(overlaps_from as varchar), 'ever'), coalesce(cast(overlaps_to as varchar), 'open'))
        end as found_value,
        case
            when conflict_kind = 'duplicate' then 'keep one of the two equal statements'
            when one_side.holds_to is null and other_side.holds_to is null then 'end one of them, or name the older version in provenance_supersedes'
            else 'let one end where the other begins, or name the older version in provenance_supersedes'
        end as advice
    from pairs
    where is_newest and conflict_kind in ('governing', 'duplicate')
      and one_side.entity_id = other_side.entity_id and one_side.side_rank = other_side.side_rank
{%- endmacro %}
