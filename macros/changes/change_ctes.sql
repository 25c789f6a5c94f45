{#- The changes of definitions that the asker may see, from `asker`, as CTEs:

        sides      every revision of a definition, and period of its formula, with what is compared
        changed    one row per change: what is said since beside what was said before
                       edited       a revision, or a period of the formula, after the one before
                       returned     the same after a gap in which it was gone
                       gone         the end of what was said
                       superseded   a version beside the one that it replaces
        changes    those with flags that say what changed -#}
{%- macro compared_columns() -%}
    {{ return(['definition_text', 'formula', 'filter_text', 'grain', 'unit', 'backing_entity_id', 'backing_version_label', 'status', 'may_govern', 'validity_basis',
        'declared_from', 'declared_to', 'deprecation_date', 'latest_version', 'supersedes_label', 'content_hash', 'is_redacted']) }}
{%- endmacro -%}

{%- macro change_ctes() -%}
{%- set compared = dbt_provenance.compared_columns() -%}
{{ dbt_provenance.seen_statements(evidence_type='definition', all_periods=true) }},

{{ dbt_provenance.standing_ctes() }},

picked as (
    select *, cast(null as date) as holds_from from seen
),

{{ dbt_provenance.shown_ctes() }},

sides as materialized (
    select
        evidence_id, doc_id, raw_id, revision, entity_id, entity_type, version_label, project_name, unique_id, recorded_from_utc, given_known_at,
        {%- for column in compared %}
        {{ column }},
        {%- endfor %}
        case when recorded_to_utc <= given_known_at then recorded_to_utc end as ended_utc,
        greatest(recorded_from_utc, formula_known_from_utc) as said_from_utc,
        min(recorded_from_utc) over (partition by evidence_id) as first_seen_utc,
        row_number() over (partition by evidence_id order by raw_id, formula_known_from_utc) as place,
        row_number() over (partition by evidence_id order by raw_id desc, formula_known_from_utc desc) = 1 as is_newest
    from shown
),

paired as (
    select
        case when here.revision <> before.revision and before.ended_utc < here.recorded_from_utc then 'returned' else 'edited' end as change_kind,
        here.said_from_utc as changed_at_utc, before.evidence_id as previous_evidence_id, before.revision as previous_revision, here.* exclude (place, is_newest),
        {{ dbt_provenance.previous_columns('before') }}
    from sides as here
    inner join sides as before on before.evidence_id = here.evidence_id and before.place = here.place - 1
    union all
    select 'superseded', greatest(here.first_seen_utc, pointers.passed_utc), before.evidence_id, before.revision, here.* exclude (place, is_newest), {{ dbt_provenance.previous_columns('before') }}
    from (
        select evidence_id, superseding_evidence_id, max(case when passed_utc <= given_known_at then passed_utc end) as passed_utc
        from standing
        where superseding_evidence_id is not null
        group by evidence_id, superseding_evidence_id
    ) as pointers
    inner join sides as before on before.evidence_id = pointers.evidence_id and before.is_newest
    inner join sides as here on here.evidence_id = pointers.superseding_evidence_id and here.is_newest
    union all
    select 'gone', here.ended_utc, here.evidence_id, here.revision, here.* exclude (place, is_newest), {{ dbt_provenance.previous_columns('here') }}
    from sides as here
    left join sides as next on next.evidence_id = here.evidence_id and next.place = here.place + 1
    where here.ended_utc is not null
      and (next.doc_id is null or (next.doc_id <> here.doc_id and here.ended_utc < next.recorded_from_utc))
),

{{ dbt_provenance.policy_change_ctes() }},

flagged as (
    select
        *,
        {%- for flag, columns in {
            'text': ['definition_text'], 'formula': ['formula'], 'filter': ['filter_text'], 'grain': ['grain'], 'unit': ['unit'],
            'backing': ['backing_entity_id', 'backing_version_label'], 'status': ['status'],
            'validity': ['validity_basis', 'declared_from', 'declared_to', 'deprecation_date', 'latest_version', 'supersedes_label'],
        }.items() %}
        change_kind <> 'gone' and (
            {%- for column in columns %}{{ ' or ' if not loop.first }}{{ column }} is distinct from previous_{{ column }}{% endfor -%}
        ) as {{ flag }}_changed,
        {%- endfor %}
        -- what is withheld is not told apart from what stayed
        revision <> previous_revision and (is_redacted or previous_is_redacted or content_hash is distinct from previous_content_hash) as content_changed
    from changed
),

changes as materialized (
    select
        *,
        content_changed and change_kind in ('edited', 'returned')
            and not (text_changed or formula_changed or filter_changed or grain_changed or unit_changed or backing_changed or status_changed or validity_changed) as other_changed,
        change_kind = 'gone' or formula_changed or filter_changed or grain_changed or unit_changed or backing_changed or (previous_may_govern and not may_govern) as is_breaking
    from flagged
    -- of a formula whose change is withheld nothing can be said
    where revision <> previous_revision or change_kind in ('gone', 'superseded') or coalesce(acl_changed, false)
       or text_changed or formula_changed or filter_changed or grain_changed or unit_changed or backing_changed or status_changed or validity_changed
)
{%- endmacro -%}

{%- macro previous_columns(side) -%}
    {%- for column in dbt_provenance.compared_columns() %}{{ side }}.{{ column }} as previous_{{ column }}{{ ', ' if not loop.last }}{% endfor -%}
{%- endmacro -%}

{#- Who may read is told as of now to everyone, but that a declared policy changed is a fact of history: a flag without names, for the service
    role alone; null is not told. A change of the policy alone is a row of its own, for the service role alone. -#}
{%- macro policy_change_ctes() -%}
policy_changes as (
    select sides.evidence_id, sides.doc_id, policies.raw_id as policy_raw_id, policies.recorded_from_utc as policy_changed_utc
    from {{ dbt_provenance.relation('prov_int_policy_changes') }} as policies
    cross join asker
    inner join {{ dbt_provenance.relation('prov_int_evidence') }} as evidence
        on evidence.project_name = policies.project_name and evidence.unique_id = policies.unique_id and evidence.evidence_type = 'definition'
        and policies.raw_id between evidence.raw_id and evidence.last_raw_id
    inner join (select distinct evidence_id, doc_id from sides) as sides on sides.doc_id = evidence.doc_id
    where asker.is_service and policies.recorded_from_utc <= asker.given_known_at
),

changed as (
    select paired.*, case when asker.is_service then policy_changes.doc_id is not null and paired.change_kind in ('edited', 'returned') and paired.revision <> paired.previous_revision end as acl_changed
    from paired
    cross join asker
    left join policy_changes on policy_changes.doc_id = paired.doc_id and policy_changes.policy_raw_id = paired.raw_id
    union all
    select 'edited', policy_changes.policy_changed_utc, sides.evidence_id, sides.revision, sides.* exclude (place, is_newest), {{ dbt_provenance.previous_columns('sides') }}, true
    from policy_changes
    inner join sides on sides.doc_id = policy_changes.doc_id
    where policy_changes.policy_raw_id <> sides.raw_id
    qualify row_number() over (partition by policy_changes.policy_raw_id, sides.evidence_id order by sides.place desc) = 1
)
{%- endmacro -%}
