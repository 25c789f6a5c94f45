{#- What is taken away by hand: `dbt run-operation erase --args '{subject: …}'`, and `revoke`; the commands `dbt-provenance erase` and
    `revoke` call these. `subject` is an evidence_id, an entity_id, or a name that only one entity answers to. Whoever may run dbt here
    may see and take away everything.

    Every read applies the ledger from the moment of the entry. The entries are written first: were the rest interrupted, the text is
    hidden already, and running it again completes it. -#}

{#- For ever: the text leaves raw and the tables built from it, and is not captured again. The pieces of a page go with it. -#}
{% macro erase(subject, reason=none) -%}
    {%- set chosen = dbt_provenance.chosen_evidence(subject) -%}
    {%- set raw = dbt_provenance.own_name('prov_raw_resources') -%}
    {%- set raw_ids = dbt_provenance.values_of(dbt_provenance.raw_rows_of(chosen.condition)) -%}
    {%- set doc_ids = dbt_provenance.values_of('select doc_id from ' ~ dbt_provenance.own_name('prov_int_evidence') ~ ' where ' ~ chosen.condition) -%}
    {%- do run_query(dbt_provenance.erasure_entries(chosen, raw_ids, reason)) -%}
    {%- do dbt_provenance.drop_unfinished() -%}
    {%- do run_query('update ' ~ raw ~ ' set document = null where raw_id in (' ~ raw_ids | join(', ') ~ ')') -%}
    {%- for column in dbt_provenance.columns_with_erased_rows() -%}
        {%- do run_query('delete from ' ~ column.relation ~ ' where ' ~ column.name ~ ' in (' ~ (doc_ids if column.name == 'doc_id' else raw_ids) | join(', ') ~ ')') -%}
    {%- endfor -%}
    {%- do adapter.commit() -%}
    {%- do log('dbt_provenance: erased ' ~ chosen.named ~ ', ' ~ raw_ids | length ~ ' captured documents; `dbt build --select package:dbt_provenance` clears what was derived from them', info=true) -%}
    {%- set others = dbt_provenance.values_of(dbt_provenance.others_with_erased_text(chosen)) -%}
    {%- if others -%}
        {%- do log('dbt_provenance: the same text still stands in ' ~ others | join(', ') ~ '; erase that too if it must go', info=true) -%}
    {%- endif -%}
{%- endmacro %}

{#- From now on nobody sees it, or no member of one group does (of every tenant, or of one). Nothing is removed. -#}
{% macro revoke(subject, group_name=none, tenant=none, reason=none) -%}
    {%- set chosen = dbt_provenance.chosen_evidence(subject) -%}
    {%- if group_name -%}
        {%- set groups = dbt_provenance.values_of('select distinct group_name from ' ~ dbt_provenance.own_name('prov_int_memberships') ~ ' where group_name is not null order by group_name') -%}
        {%- if group_name not in groups -%}
            {%- do exceptions.raise_compiler_error('dbt_provenance: nobody is in group ' ~ group_name ~ ', nothing is revoked; the groups are ' ~ (groups | join(', ') or 'none yet')) -%}
        {%- endif -%}
    {%- endif -%}
    {%- if chosen.entity_id is not none -%}
        {%- do run_query(dbt_provenance.ledger_entry('revoke', entity_id=chosen.entity_id, group_name=group_name, tenant_id=tenant, reason=reason)) -%}
    {%- else -%}
        {%- for evidence_id in chosen.evidence_ids -%}
            {%- do run_query(dbt_provenance.ledger_entry('revoke', evidence_id=evidence_id, group_name=group_name, tenant_id=tenant, reason=reason)) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- do adapter.commit() -%}
    {%- do log('dbt_provenance: revoked ' ~ chosen.named ~ ' from ' ~ ('group ' ~ group_name if group_name else 'everyone'), info=true) -%}
{%- endmacro %}

{#- What a subject means: a condition on prov_int_evidence, the evidence_ids it covers, and the entity_id when all of an entity is meant. -#}
{% macro chosen_evidence(subject) -%}
    {%- set obstacle = dbt_provenance.preflight() -%}
    {%- if obstacle -%}
        {%- do exceptions.raise_compiler_error('dbt_provenance: ' ~ obstacle) -%}
    {%- endif -%}
    {%- set evidence = dbt_provenance.own_name('prov_int_evidence') -%}
    {%- set text = dbt_provenance.literal(subject) -%}
    {%- set condition -%}
        (evidence_id = {{ text }} or (resource_type = 'page_piece' and page_id in (
            select unique_id from {{ evidence }} where evidence_id = {{ text }} and resource_type = 'page'
        )))
    {%- endset -%}
    {%- set entity_id = none -%}
    {%- set evidence_ids = dbt_provenance.evidence_ids_where(condition) -%}
    {%- if not evidence_ids -%}
        {%- set named = dbt_provenance.entity_called(subject) -%}
        {%- set condition = 'entity_id = ' ~ dbt_provenance.literal(named.entity_id) -%}
        {%- if named.pinned_version is none -%}
            {%- set entity_id = named.entity_id -%}
        {%- else -%}
            {%- set condition = condition ~ ' and version_label = ' ~ dbt_provenance.literal(named.pinned_version) -%}
        {%- endif -%}
        {%- set evidence_ids = dbt_provenance.evidence_ids_where(condition) -%}
    {%- endif -%}
    {{ return({'condition': condition, 'entity_id': entity_id, 'evidence_ids': evidence_ids, 'named': entity_id or subject}) }}
{%- endmacro %}

{% macro evidence_ids_where(condition) -%}
    {{ return(dbt_provenance.values_of('select distinct evidence_id from ' ~ dbt_provenance.own_name('prov_int_evidence') ~ ' where ' ~ condition ~ ' order by evidence_id')) }}
{%- endmacro %}

{#- The one entity that answers to an id or a name, with the version that the name pins. -#}
{% macro entity_called(subject) -%}
    {%- set names = dbt_provenance.own_name('prov_int_names') -%}
    {%- set found = run_query('select distinct tier, entity_id, pinned_version from ' ~ names ~ ' where tier <= 2 and term = lower(trim(' ~ dbt_provenance.literal(subject) ~ ')) order by tier').rows -%}
    {%- set best = [] -%}
    {%- for row in found if row[0] == found[0][0] -%}
        {%- do best.append(row) -%}
    {%- endfor -%}
    {%- if not best -%}
        {%- do exceptions.raise_compiler_error('dbt_provenance: no evidence and no entity is called ' ~ subject ~ '; an evidence_id, an entity_id, or a name is needed') -%}
    {%- elif best | length > 1 -%}
        {%- do exceptions.raise_compiler_error('dbt_provenance: ' ~ subject ~ ' is not one entity; say which by its id: ' ~ best | map(attribute=1) | unique | join(', ')) -%}
    {%- endif -%}
    {{ return({'entity_id': best[0][1], 'pinned_version': best[0][2]}) }}
{%- endmacro %}

{#- The select of all raw rows that hold the evidence: its revisions, what was captured since the tables were built, and the same document
    or text of the same resource in other targets. -#}
{% macro raw_rows_of(condition) -%}
    {%- set raw = dbt_provenance.own_name('prov_raw_resources') -%}
    with chosen as (
        select project_name, target_name, unique_id, raw_id, last_raw_id from {{ dbt_provenance.own_name('prov_int_evidence') }} where {{ condition }}
    ),
    held as (
        select landed.raw_id, landed.project_name, landed.unique_id, landed.document_hash, {{ dbt_provenance.authored_hash('landed.document') }} as authored_hash
        from {{ raw }} as landed
        inner join chosen on chosen.project_name = landed.project_name and chosen.target_name = landed.target_name and chosen.unique_id = landed.unique_id
        where landed.change_kind = 'open'
          and (landed.raw_id between chosen.raw_id and chosen.last_raw_id
              or landed.raw_id > (select built_through_raw_id from {{ dbt_provenance.own_name('prov_int_build') }}))
    )
    select distinct landed.raw_id
    from {{ raw }} as landed
    inner join held on held.project_name = landed.project_name and held.unique_id = landed.unique_id
    where landed.change_kind = 'open'
      and (held.raw_id = landed.raw_id or held.document_hash = landed.document_hash or held.authored_hash = {{ dbt_provenance.authored_hash('landed.document') }})
{%- endmacro %}

{#- One entry for each evidence and document: by its hash, and by the hash of what a person wrote in it, neither is captured again. -#}
{% macro erasure_entries(chosen, raw_ids, reason) -%}
    {%- set ledger = dbt_provenance.own_name('prov_ledger') -%}
    insert into {{ ledger }} (
        ledger_id, ledger_action, evidence_id, entity_id, document_hash, content_hash, group_name, tenant_id, reason, recorded_at_utc
    )
    with entries as (
        select distinct evidence.evidence_id, landed.document_hash, {{ dbt_provenance.authored_hash('landed.document') }} as content_hash
        from {{ dbt_provenance.own_name('prov_int_evidence') }} as evidence
        inner join {{ dbt_provenance.own_name('prov_raw_resources') }} as landed
            on landed.project_name = evidence.project_name and landed.unique_id = evidence.unique_id and landed.raw_id in ({{ raw_ids | join(', ') }})
        where evidence.evidence_id in ({{ dbt_provenance.quoted(chosen.evidence_ids) }})
    )
    select
        {{ dbt_provenance.last_number(dbt_provenance.own_relation('prov_ledger'), 'ledger_id') }} + row_number() over (order by evidence_id, document_hash),
        'erase',
        evidence_id,
        {{ dbt_provenance.literal(chosen.entity_id) }},
        document_hash,
        content_hash,
        null,
        null,
        {{ dbt_provenance.literal(reason) }},
        {{ dbt_provenance.utc_now() }}
    from entries
{%- endmacro %}

{#- Other resources whose text is the one that was just erased. -#}
{% macro others_with_erased_text(chosen) -%}
    select distinct landed.unique_id
    from {{ dbt_provenance.own_name('prov_raw_resources') }} as landed
    inner join {{ dbt_provenance.own_name('prov_ledger') }} as erased
        on erased.ledger_action = 'erase' and erased.content_hash = {{ dbt_provenance.authored_hash('landed.document') }}
    where erased.evidence_id in ({{ dbt_provenance.quoted(chosen.evidence_ids) }})
    order by landed.unique_id
{%- endmacro %}

{#- The tables built from raw whose rows say by doc_id, or else by raw_id, from which document they come. -#}
{% macro columns_with_erased_rows() -%}
    {%- set landing = dbt_provenance.own_relation('prov_raw_resources') -%}
    {%- set columns = run_query(
        "select found.table_name, min(found.column_name) from information_schema.columns as found"
        " inner join information_schema.tables as base on base.table_schema = found.table_schema and base.table_name = found.table_name and base.table_catalog = found.table_catalog"
        " where base.table_type = 'BASE TABLE' and found.column_name in ('doc_id', 'raw_id')"
        " and found.table_name like 'prov_int_%' and found.table_schema = " ~ dbt_provenance.literal(landing.schema) ~
        " group by found.table_name") -%}
    {%- set named = [] -%}
    {%- for row in columns.rows -%}
        {%- do named.append({'relation': dbt_provenance.name_of(landing.incorporate(path={'identifier': row[0]})), 'name': row[1]}) -%}
    {%- endfor -%}
    {{ return(named) }}
{%- endmacro %}

{#- The sha256 of what a person wrote in a document; null when it has no such text. -#}
{% macro authored_hash(document) -%}
    {{ return(adapter.dispatch('authored_hash', 'dbt_provenance')(document)) }}
{%- endmacro %}

{% macro duckdb__authored_hash(document) -%}
    sha256(coalesce(
        json_extract_string({{ document }}, '$.description'), json_extract_string({{ document }}, '$.block_contents'),
        json_extract_string({{ document }}, '$.body'), json_extract_string({{ document }}, '$.text')
    ))
{%- endmacro %}

{% macro own_name(model_name) -%}
    {{ return(dbt_provenance.name_of(dbt_provenance.own_relation(model_name))) }}
{%- endmacro %}

{#- The first column of a select, as a list. -#}
{% macro values_of(statement) -%}
    {%- set values = [] -%}
    {%- for row in run_query(statement).rows -%}
        {%- do values.append(row[0]) -%}
    {%- endfor -%}
    {{ return(values) }}
{%- endmacro %}
