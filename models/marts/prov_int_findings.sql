{%- set evidence = dbt_provenance.relation('prov_int_evidence') -%}
{%- set known_keys = dbt_provenance.quoted(dbt_provenance.governance_keys()) -%}
-- one row per rule of good metadata that a resource breaks: what is wrong, where, and what to write instead
with current_meta as (
    select meta.*, resources.unique_id, resources.project_name
    from {{ dbt_provenance.relation('prov_stg_meta') }} as meta
    inner join {{ dbt_provenance.relation('prov_stg_resources') }} as resources on resources.raw_id = meta.raw_id
    where resources.recorded_to_utc is null
),

current_evidence as (
    select * from {{ evidence }} where recorded_to_utc is null
),

two_places as (
    select meta.project_name, meta.unique_id, meta.declared_key, cast(meta.declared_value as varchar) || ' and ' || cast(top.declared_value as varchar) as found_value
    from current_meta as meta
    inner join current_meta as top on top.raw_id = meta.raw_id and top.declared_key = meta.declared_key and top.place = 'meta_top'
    where meta.place = 'meta' and meta.part_kind = ''
),

-- what overlaps or is said twice is found when asked (provenance__findings), over what the asker may see
pairs as (
    select
        one_side.project_name, one_side.unique_id, one_side.declared_from, one_side.declared_to,
        other_side.unique_id as other_id, other_side.policy_id as other_policy_id, other_side.declared_from as other_from, other_side.declared_to as other_to
    from current_evidence as one_side
    inner join current_evidence as other_side
        on other_side.entity_id = one_side.entity_id and other_side.evidence_type = one_side.evidence_type and other_side.evidence_id > one_side.evidence_id
    where one_side.may_govern and other_side.may_govern and one_side.evidence_type = 'definition'
      and one_side.validity_basis = 'declared' and other_side.validity_basis = 'declared'
      and one_side.interval_is_sound and other_side.interval_is_sound
),

found as (
    select project_name, unique_id, 'unknown key' as finding_rule, 'warn' as severity, trim(part_kind || ' ' || part_name || ' provenance_' || declared_key) as field_name, cast(declared_value as varchar) as found_value,
        'remove it, or write one of provenance_{{ dbt_provenance.governance_keys() | join(", provenance_") }}' as advice, cast(null as varchar) as other_id, cast(null as bigint) as other_policy_id
    from current_meta
    where declared_key not in ({{ known_keys }}) and place <> 'front_matter'
    union all
    select project_name, unique_id, 'malformed policy', 'error', trim(part_kind || ' ' || part_name || ' provenance_' || declared_key), cast(declared_value as varchar),
        'write the name of a group, or a list of names; nobody sees the resource until then', null, null
    from current_meta
    where {{ dbt_provenance.closes('declared_key', 'value_type', 'value_list', 'declared_value', 'place') }}
    union all
    select project_name, unique_id, 'allows nobody', 'error', trim(part_kind || ' ' || part_name || ' provenance_allow'), cast(declared_value as varchar),
        'write the name of a group, or a list of names, or take the key away; an empty list shows it to nobody', null, null
    from current_meta
    where declared_key = 'allow' and value_type = 'ARRAY' and len(value_list) = 0
    union all
    select named.project_name, named.unique_id, 'group of nobody', 'warn', trim(named.part_kind || ' ' || named.part_name || ' provenance_' || named.declared_key), named.group_name,
        'write the names of groups as a list, each with somebody in it', null, null
    from (select *, unnest(value_list) as group_name from current_meta where declared_key in ('allow', 'deny')) as named
    where named.group_name <> '' and named.group_name not in (select group_name from {{ dbt_provenance.relation('prov_int_memberships') }} where group_name is not null)
    union all
    select evidence.project_name, evidence.unique_id, 'supersedes nothing', 'warn', 'provenance_supersedes', evidence.supersedes_label, 'write a version of the same entity', null, null
    from current_evidence as evidence
    where evidence.evidence_type = 'definition' and evidence.supersedes_label is not null and not exists (
        select 1 from current_evidence as others
        where others.entity_id = evidence.entity_id and others.evidence_id <> evidence.evidence_id
          and {{ dbt_provenance.plain_version('others.version_label') }} = {{ dbt_provenance.plain_version('evidence.supersedes_label') }}
    )
    union all
    select project_name, unique_id, 'wrong type', 'error', 'provenance_synonyms', cast(declared_value as varchar), 'write a text, or a list of texts', null, null
    from current_meta
    where declared_key = 'synonyms' and value_type not in ('VARCHAR', 'NULL')
      and (value_type <> 'ARRAY' or len(list_filter(cast(json_type(declared_value, '$[*]') as varchar[]), lambda one_type: one_type <> 'VARCHAR')) > 0)
    union all
    select project_name, unique_id, 'wrong type', 'error', 'provenance_' || declared_key, cast(declared_value as varchar), 'write one text', null, null
    from current_meta
    where declared_key in ('status', 'entity', 'version', 'valid_from', 'valid_to', 'supersedes', 'about', 'grain', 'unit', 'owner', 'classification', 'title', 'source_uri') and value_text is null and value_type <> 'NULL'
    union all
    select project_name, unique_id, 'unknown status', 'error', 'provenance_status', value_text,
        'write authoritative, approved, unspecified, draft, deprecated, superseded or archived; it is read as a draft until then', null, null
    from current_meta
    where declared_key = 'status' and part_kind = ''
      and lower(value_text) not in ('authoritative', 'approved', 'unspecified', 'draft', 'deprecated', 'superseded', 'archived')
    union all
    select project_name, unique_id, 'unreadable date', 'error', 'provenance_' || declared_key, cast(declared_value as varchar),
        'write a date that exists as YYYY-MM-DD; the statement holds on no date until then', null, null
    from current_meta
    where declared_key in ('valid_from', 'valid_to') and part_kind = '' and not {{ dbt_provenance.is_open_date('value_text') }} and {{ dbt_provenance.declared_date('value_text', false) }} is null
    union all
    select project_name, unique_id, 'two values', 'error', 'provenance_' || declared_key, found_value, 'write the key in config.meta alone; of two policies both hold', null, null
    from two_places
    union all
    select evidence.project_name, evidence.unique_id, 'inverted interval', 'error', 'provenance_valid_to', cast(evidence.declared_from as varchar) || ' to ' || cast(evidence.declared_to as varchar),
        'end it after it begins; the statement holds on no date until then', null, null
    from current_evidence as evidence
    where evidence.evidence_type = 'definition' and evidence.declared_from >= evidence.declared_to
    union all
    select project_name, unique_id, 'capped status', 'warn', 'provenance_status', declared_status, 'it counts as ' || status || ': its source may not claim more', null, null
    from current_evidence
    where evidence_type = 'definition' and status <> declared_status
    union all
    select project_name, unique_id, 'inclusive end', 'warn', 'provenance_valid_to', cast(declared_to as varchar),
        'valid_to is the first day on which it no longer holds: write ' || cast(cast(declared_to + interval 1 day as date) as varchar), other_id, other_policy_id
    from pairs
    where declared_to + interval 1 day = other_from
    union all
    select project_name, unique_id, 'inclusive end', 'warn', 'provenance_valid_to', cast(other_to as varchar),
        'valid_to is the first day on which it no longer holds: write ' || cast(cast(other_to + interval 1 day as date) as varchar), other_id, other_policy_id
    from pairs
    where other_to + interval 1 day = declared_from
    union all
    select guards.project_name, guards.unique_id, closed_because, 'error', case closed_because when 'two tenants' then 'provenance_tenant' else 'provenance_allow' end, null,
        case closed_because
            when 'two tenants' then 'let all layers name one tenant; nobody sees it until then'
            when 'deny without allow' then 'name in provenance_allow who may see it; a deny alone shows it to nobody'
            else 'write the policy anew; nobody sees it until then'
        end, null, null
    from {{ dbt_provenance.relation('prov_int_guards') }} as guards
    where guards.part_kind = '' and closed_because in ('two tenants', 'deny without allow')
    union all
    select project_name, unique_id, 'metric without owner', 'warn', 'provenance_owner', null, 'name who answers for it', null, null
    from current_evidence
    where entity_type = 'metric' and evidence_type = 'definition' and source_kind <> 'page' and owner_label is null
    union all
    select project_name, unique_id, 'nested too deep', 'warn', 'meta', null, 'write it flatter; what stands deeper than {{ dbt_provenance.canonical_keys()["deepest"] }} levels is not captured', null, null
    from {{ dbt_provenance.relation('prov_stg_resources') }}
    where recorded_to_utc is null and contains(document, {{ dbt_provenance.literal(dbt_provenance.canonical_keys()['too_deep']) }})
    union all
    select project_name, unique_id, 'unreadable front matter', 'error', 'front matter', json_extract_string(document, '$.front_matter_error'), 'mend the YAML between the two lines of three dashes; nobody sees the page until then', null, null
    from {{ dbt_provenance.relation('prov_stg_resources') }}
    where resource_type = 'page' and recorded_to_utc is null and json_extract_string(document, '$.front_matter_error') is not null
    union all
    select {{ dbt_provenance.literal(project_name) }}, null, 'malformed rule', 'error', policy_name, concat_ws(' ', applies_to, pattern, effect, group_name),
        'a rule needs applies_to (path, tag, dbt_group, resource_type or project), a pattern, allow or deny, and a group; what it is about is closed until then', null, null
    from {{ dbt_provenance.relation('prov_stg_policies') }}
    where is_malformed or applies_to_unknown
),

guards as (
    select project_name, unique_id, tenant_id, policy_id
    from {{ dbt_provenance.relation('prov_int_guards') }}
    where part_kind = ''
    qualify row_number() over (partition by project_name, unique_id order by segment desc) = 1
),

final as (
    select distinct
        found.finding_rule,
        found.severity,
        found.project_name,
        found.unique_id,
        coalesce(nodes.entity_id, found.unique_id) as entity_id,
        found.field_name,
        found.found_value,
        found.advice,
        resources.original_file_path,
        coalesce(guards.tenant_id, {{ dbt_provenance.literal(var('provenance_default_tenant', 'default')) }}) as tenant_id,
        -- what is wrong with a part that may have a policy of its own, or says which groups and versions there are, is for the service role
        case when found.finding_rule in ('group of nobody', 'supersedes nothing') or regexp_matches(found.field_name, '^(column|measure|dimension|entity) ') then null else guards.policy_id end as policy_id,
        nodes.evidence_id,
        found.other_id,
        found.other_policy_id
    from found
    left join guards on guards.project_name = found.project_name and guards.unique_id = found.unique_id
    left join {{ dbt_provenance.relation('prov_int_nodes') }} as nodes on nodes.project_name = found.project_name and nodes.unique_id = found.unique_id
    left join {{ dbt_provenance.relation('prov_stg_resources') }} as resources
        on resources.project_name = found.project_name and resources.unique_id = found.unique_id and resources.recorded_to_utc is null
)

select * from final
