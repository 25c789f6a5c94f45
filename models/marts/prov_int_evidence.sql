-- one row per revision of an evidence, oldest first; facts as declared: what depends on other rows is computed when asked
with subjects as (
    select * from {{ dbt_provenance.relation('prov_int_subjects') }}
),

-- what is left out of a content's hash: parts with a policy of their own, which not everybody may see who sees the rest
guarded_parts as (
    select project_name, unique_id, segment
        {%- for part_kind in ['column', 'measure', 'dimension', 'entity'] %},
        coalesce(list(part_name) filter (where part_kind = '{{ part_kind }}'), []) as {{ part_kind }}_names
        {%- endfor %}
    from {{ dbt_provenance.relation('prov_int_guards') }}
    where part_kind <> ''
    group by project_name, unique_id, segment
),

left_out as (
    select
        subjects.raw_id,
        -- put together as text, for patches do not add up, and for each state alike, for a patch moves keys; a mapping or a list of which
        -- nothing is left is not there
        cast('{' || concat_ws(', ',
            '"columns": ' || case when not list_has_all(coalesce(guarded_parts.column_names, []), json_keys(subjects.document, '$.columns'))
                then coalesce(cast(to_json(map(guarded_parts.column_names, list_transform(guarded_parts.column_names, lambda one_name: cast(null as varchar)))) as varchar), '{}') else 'null' end,
            case when list_contains(guarded_parts.entity_names, json_extract_string(subjects.document, '$.primary_entity')) then '"primary_entity": null' end
            {%- for list_name, part_kind in [('measures', 'measure'), ('dimensions', 'dimension'), ('entities', 'entity')] %},
            '"{{ list_name }}": ' || coalesce(cast(to_json(nullif(list_filter(cast(json_extract(subjects.document, '$.{{ list_name }}[*]') as json[]),
                lambda one_part: not coalesce(list_contains(guarded_parts.{{ part_kind }}_names, json_extract_string(one_part, '$.name')), false)), [])) as varchar), 'null')
            {%- endfor %}
        ) || '}' as json) as patch
    from subjects
    left join guarded_parts
        on guarded_parts.project_name = subjects.project_name and guarded_parts.unique_id = subjects.unique_id and guarded_parts.segment = subjects.segment
),

-- who builds a relation owns it: a source over a relation that another project builds is described from outside
builders as (
    select distinct project_name, lower(json_extract_string(document, '$.relation_name')) as relation_name
    from subjects
    where resource_type in ('model', 'seed', 'snapshot') and recorded_to_utc is null and json_extract_string(document, '$.relation_name') is not null
),

foreign_sources as (
    select distinct subjects.raw_id
    from subjects
    inner join builders on builders.relation_name = lower(json_extract_string(subjects.document, '$.relation_name')) and builders.project_name <> subjects.project_name
    where subjects.resource_type = 'source'
),

{{ dbt_provenance.evidence_by_type() }},

spoken as (
    select
        evidence.*,
        guards.policy_id,
        guards.tenant_id,
        case
            when subjects.resource_type in ('page', 'page_piece') then 'page'
            when foreign_sources.raw_id is not null then 'other_project'
            else 'building_project'
        end as source_kind,
        subjects.resource_type in ('page', 'page_piece') and exists (
            select 1 from subjects as owners
            where owners.entity_id = subjects.entity_id and owners.project_name <> subjects.project_name and owners.resource_type not in ('page', 'page_piece')
        ) as is_about_foreign_entity,
        case
            when subjects.status_text is null and not coalesce(subjects.status_is_malformed, false) then 'unspecified'
            when lower(subjects.status_text) in ('authoritative', 'approved', 'unspecified', 'draft', 'deprecated', 'superseded', 'archived') then lower(subjects.status_text)
            else 'draft'
        end as declared_status,
        subjects.unique_id, subjects.project_name, subjects.target_name, subjects.package_name, subjects.resource_type, subjects.segment, subjects.change_number,
        subjects.own_name, subjects.version_label, subjects.dbt_version_label, subjects.latest_version, subjects.deprecation_date,
        subjects.declared_from, subjects.declared_to, subjects.has_declared_interval, subjects.interval_is_malformed,
        subjects.supersedes_text, subjects.about_text, subjects.classification_text, subjects.synonyms,
        lower(json_extract_string(subjects.document, '$.relation_name')) as relation_name,
        subjects.recorded_from_utc, subjects.recorded_to_utc, subjects.original_file_path, subjects.page_id,
        coalesce(subjects.owner_text, json_extract_string(subjects.document, '$.owner.name'), json_extract_string(subjects.document, '$.owner.email'),
            case when json_type(subjects.document, '$.owner') = 'VARCHAR' then json_extract_string(subjects.document, '$.owner') end,
            json_extract_string(subjects.document, '$.group')) as owner_label,
        guards.tenant_id || '/' || subjects.project_name || '/' || subjects.unique_id || '/' || coalesce(subjects.version_label, '') || '/' || evidence.evidence_type as evidence_id,
        -- the resource, or the page, whose part this is
        subjects.entity_id as whole_entity_id,
        guards.tenant_id || '/' || subjects.project_name || '/' || subjects.page_id || '/' || coalesce(subjects.version_label, '') || '/definition' as whole_evidence_id
    from evidence
    inner join subjects on subjects.raw_id = evidence.raw_id
    left join foreign_sources on foreign_sources.raw_id = evidence.raw_id
    inner join {{ dbt_provenance.relation('prov_int_guards') }} as guards
        on guards.project_name = subjects.project_name and guards.unique_id = subjects.unique_id and guards.segment = subjects.segment and guards.part_kind = ''
),

-- equal content in a row is one revision, however often the resource was written for another reason
marked as (
    select
        *,
        coalesce(lag(content_hash) over evidence_rows is distinct from content_hash or lag(segment) over evidence_rows <> segment, true) as is_new_revision,
        lead(raw_id) over evidence_rows as next_raw_id
    from spoken
    window evidence_rows as (partition by evidence_id order by raw_id)
),

numbered as (
    select *, count(*) filter (where is_new_revision) over (partition by evidence_id order by raw_id rows unbounded preceding) as island
    from marked
),

revisions as (
    select
        * exclude (recorded_to_utc, next_raw_id),
        -- known until the last row of the island ends
        last_value(recorded_to_utc) over island_rows as recorded_to_utc,
        last_value(raw_id) over island_rows as last_raw_id,
        last_value(next_raw_id) over island_rows as next_raw_id
    from numbered
    window island_rows as (partition by evidence_id, island order by raw_id rows between unbounded preceding and unbounded following)
    qualify row_number() over (partition by evidence_id, island order by raw_id) = 1
),

based as (
    select
        *,
        case when has_declared_interval then 'declared' when dbt_version_label is not null then 'dbt' else 'observed' end as validity_basis,
        lead(recorded_from_utc) over evidence_rows as next_recorded_from_utc,
        lead(segment) over evidence_rows as next_segment,
        cast(recorded_from_utc as date) as recorded_date
    from revisions
    window evidence_rows as (partition by evidence_id order by raw_id)
),

-- a chain is an unbroken row of observed states; a declared one corrects what was observed before it
counted as (
    select *, count(*) filter (where validity_basis <> 'observed') over (partition by evidence_id order by raw_id) as chain
    from based
),

chained as (
    select
        *,
        min(recorded_from_utc) filter (where validity_basis <> 'observed') over (partition by evidence_id order by raw_id rows between 1 following and unbounded following) as chain_until_utc,
        min(recorded_date) over (partition by evidence_id, chain) as chain_first_date,
        min(recorded_date) over (partition by evidence_id, chain, segment) as segment_first_date
    from counted
),

ruled as (
    select
        chained.*,
        case when caps.rule_rank is not null and claimed.rule_rank < caps.rule_rank then caps.subject else chained.declared_status end as status,
        coalesce(kinds.rule_rank, others.rule_rank) as kind_rank,
        coalesce(sources.may_govern, false)
            and (coalesce(sources.speaks_for_others, false) or not chained.is_about_foreign_entity)
            and not chained.interval_is_malformed
            and not (chained.source_kind = 'page' and chained.declared_status = 'unspecified')
            and not (chained.declared_status in ('superseded', 'archived') and not chained.has_declared_interval) as source_may_govern
    from chained
    left join {{ dbt_provenance.relation('prov_stg_authority') }} as sources on sources.rule_kind = 'source' and sources.subject = chained.source_kind
    left join {{ dbt_provenance.relation('prov_stg_authority') }} as caps on caps.rule_kind = 'status' and caps.subject = sources.highest_status
    left join {{ dbt_provenance.relation('prov_stg_authority') }} as claimed on claimed.rule_kind = 'status' and claimed.subject = chained.declared_status
    left join {{ dbt_provenance.relation('prov_stg_authority') }} as kinds
        on kinds.rule_kind = 'kind' and kinds.subject = case when chained.source_kind = 'page' then 'page' else chained.resource_type end
    left join {{ dbt_provenance.relation('prov_stg_authority') }} as others on others.rule_kind = 'kind' and others.subject = 'other'
),

-- when latest_version was first seen at or above a dbt version, and above it: from the version's own rows
version_rows as (
    select raw_id, evidence_id, recorded_from_utc,
        {{ dbt_provenance.version_order('latest_version') }} >= {{ dbt_provenance.version_order('dbt_version_label') }} as is_reached,
        {{ dbt_provenance.version_order('latest_version') }} > {{ dbt_provenance.version_order('dbt_version_label') }} as is_passed
    from spoken
    where dbt_version_label is not null
),

version_history as (
    select
        raw_id,
        evidence_id,
        first_value(is_passed) over own_rows as is_below_at_first,
        case when not first_value(is_reached) over own_rows then min(recorded_from_utc) filter (where is_reached) over own_rows end as reached_utc,
        min(recorded_from_utc) filter (where is_passed) over own_rows as passed_utc
    from version_rows
    window own_rows as (partition by evidence_id order by raw_id rows between unbounded preceding and unbounded following)
),

-- what a statement names, or named in any period of its formula: resources, and parts of them that have a policy of their own
named as (
    select raw_id, type_code, project_name, unnest(named_ids) as named_id
    from ruled
    where evidence_type <> 'definition'
    union
    select ruled.raw_id, ruled.type_code, ruled.project_name, unnest(list_concat(formulas.named_ids, formulas.named_parts))
    from ruled
    inner join {{ dbt_provenance.relation('prov_int_formulas') }} as formulas
        on formulas.project_name = ruled.project_name and formulas.unique_id = ruled.unique_id
        and coalesce(formulas.known_from_utc < ruled.recorded_to_utc, true) and coalesce(ruled.recorded_from_utc < formulas.known_to_utc, true)
    where ruled.evidence_type = 'definition'
),

own_policies as (
    select project_name, unique_id || '#' || part_kind || '#' || part_name as part_id, arg_max(coalesce(policy_id, -1), segment) as policy_id
    from {{ dbt_provenance.relation('prov_int_guards') }}
    where part_kind <> ''
    group by project_name, unique_id, part_kind, part_name
),

-- their policies, and the ids by which the ledger may take them: whoever does not pass all does not see the formula. What nobody may see,
-- or nobody knows, stands as -1.
naming as (
    select
        named.raw_id, named.type_code,
        list(distinct coalesce(own_policies.policy_id, nodes.policy_id, -1)) filter (where own_policies.policy_id is not null or strpos(named.named_id, '#') = 0) as named_policy_ids,
        list_distinct(flatten(list([nodes.entity_id, nodes.evidence_id]))) as named_keys
    from named
    left join {{ dbt_provenance.relation('prov_int_nodes') }} as nodes on nodes.project_name = named.project_name and nodes.unique_id = named.named_id
    left join own_policies on own_policies.project_name = named.project_name and own_policies.part_id = named.named_id
    group by named.raw_id, named.type_code
),

final as (
    select
        ruled.raw_id * 4 + ruled.type_code as doc_id,
        ruled.raw_id, ruled.last_raw_id, ruled.evidence_id, ruled.whole_evidence_id, ruled.whole_entity_id, ruled.change_number as revision, ruled.evidence_type, ruled.entity_id, ruled.entity_type, ruled.entity_name,
        ruled.unique_id, ruled.resource_type, ruled.project_name, ruled.target_name, ruled.package_name, ruled.tenant_id, ruled.policy_id, ruled.segment,
        ruled.version_label, ruled.dbt_version_label, ruled.latest_version, ruled.deprecation_date, ruled.supersedes_text as supersedes_label,
        ruled.declared_status, ruled.status, ruled.kind_rank, ruled.source_kind,
        status_ranks.rule_rank as status_rank,
        ruled.source_may_govern and coalesce(status_ranks.may_govern, false) as may_govern,
        ruled.validity_basis, ruled.declared_from, ruled.declared_to,
        not ruled.interval_is_malformed and not coalesce(ruled.declared_from >= ruled.declared_to, false) as interval_is_sound,
        -- observed validity: the states of the first day are open backwards, a later one starts on the day it was recorded; so is the
        -- first day after a gap for whoever may not see what lies before it
        ruled.recorded_date,
        min(ruled.recorded_from_utc) over (partition by ruled.evidence_id) as first_recorded_utc,
        ruled.recorded_date <> ruled.chain_first_date as starts_when_recorded,
        case when ruled.recorded_date = ruled.segment_first_date and ruled.recorded_date <> ruled.chain_first_date then before_gap.policy_id else ruled.policy_id end as before_gap_policy_id,
        ruled.chain_until_utc,
        version_history.is_below_at_first, version_history.reached_utc, version_history.passed_utc,
        ruled.next_recorded_from_utc, ruled.recorded_from_utc, ruled.recorded_to_utc,
        -- known as gone from here on: the resource, or this evidence of it, is no longer there
        min(case when ruled.recorded_to_utc is distinct from ruled.next_recorded_from_utc or ruled.next_segment <> ruled.segment then ruled.recorded_to_utc end)
            over (partition by ruled.evidence_id order by ruled.raw_id rows between current row and unbounded following) as gone_from_utc,
        ruled.title, ruled.definition_text, ruled.text_origin, ruled.formula, ruled.filter_text, ruled.grain, ruled.unit,
        ruled.named_ids, coalesce(naming.named_policy_ids, cast([] as bigint[])) as named_policy_ids, coalesce(naming.named_keys, cast([] as varchar[])) as named_keys,
        backing.entity_id as backing_entity_id, backing.version_label as backing_version_label, backing.source_uri as backing_source_uri,
        backing.policy_id as backing_policy_id, backing.evidence_id as backing_evidence_id,
        case when grain_guards.unique_id is not null then coalesce(grain_guards.policy_id, -1) end as grain_policy_id,
        ruled.fingerprint, ruled.text_fingerprint, ruled.content_hash, ruled.source_uri,
        -- whatever the ledger may name to take it: itself, its entity, and of a part the whole
        list_filter([ruled.evidence_id, ruled.entity_id, case when ruled.evidence_type <> 'definition' then ruled.whole_evidence_id end,
            case when ruled.evidence_type <> 'definition' then ruled.whole_entity_id end], lambda one_key: one_key is not null) as ledger_keys,
        ruled.about_text, ruled.owner_label, ruled.relation_name, ruled.classification_text, ruled.synonyms, ruled.original_file_path, ruled.page_id
    from ruled
    left join version_history on version_history.raw_id = ruled.raw_id and version_history.evidence_id = ruled.evidence_id
    left join naming on naming.raw_id = ruled.raw_id and naming.type_code = ruled.type_code
    left join {{ dbt_provenance.relation('prov_int_nodes') }} as backing on backing.project_name = ruled.project_name and backing.unique_id = ruled.backing_id
    -- a semantic model's grain is the name of its primary entity, which may have a policy of its own
    left join {{ dbt_provenance.relation('prov_int_guards') }} as grain_guards
        on ruled.resource_type = 'semantic_model' and grain_guards.part_kind = 'entity' and grain_guards.part_name = ruled.grain
        and grain_guards.project_name = ruled.project_name and grain_guards.unique_id = ruled.unique_id and grain_guards.segment = ruled.segment
    -- the policy of the segment before this one: earlier segments ask for at least as much
    left join (select distinct evidence_id, segment, chain, policy_id, coalesce(lead(segment) over (partition by evidence_id, chain order by segment), -1) as next_of_chain
               from (select distinct evidence_id, segment, chain, policy_id from chained)) as before_gap
        on before_gap.evidence_id = ruled.evidence_id and before_gap.chain = ruled.chain and before_gap.next_of_chain = ruled.segment
    left join {{ dbt_provenance.relation('prov_stg_authority') }} as status_ranks on status_ranks.rule_kind = 'status' and status_ranks.subject = ruled.status
)

select * from final
order by entity_id, evidence_id, revision
