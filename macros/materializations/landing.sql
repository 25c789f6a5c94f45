{#- A table that is created when missing and never dropped, also under --full-refresh; its model's SQL only gives the columns. One that
    an older release made gets the columns it lacks, null in the rows that it has; one too many is left alone. Each landing model then fills
    itself through the macro named in `meta.fill`. A view in its place is what `dbt clone` left. -#}
{% materialization provenance_landing, default %}
    {%- set landing = this.incorporate(type='table') -%}
    {%- set is_new = not dbt_provenance.is_own_table(this) -%}
    {%- if is_new and dbt_provenance.exists_in_warehouse(this) -%}
        {%- do adapter.drop_relation(this.incorporate(type='view')) -%}
    {%- endif -%}
    {%- call statement('main') -%}
        create table if not exists {{ dbt_provenance.name_of(this) }} as
        select * from ({{ sql }}) as landing_columns where false
    {%- endcall -%}
    {%- set added = [] if is_new else dbt_provenance.add_missing_columns(landing, sql) -%}
    {%- set fill = config.get('meta', {}).get('fill') -%}
    {%- if fill == 'graph' -%}
        {%- do dbt_provenance.fill_from_graph(landing) -%}
    {%- elif fill == 'seal' and (is_new or 'ledger_action' in added) -%}
        {%- do dbt_provenance.seal_lost_ledger(landing) -%}
    {%- endif -%}
    {%- do adapter.commit() -%}
    {{ return({'relations': [landing]}) }}
{% endmaterialization %}

{#- Names of the columns that were added. -#}
{% macro add_missing_columns(landing, sql) -%}
    {%- set present = dbt_provenance.column_names(landing) -%}
    {%- set added = [] -%}
    {%- for row in run_query(dbt_provenance.described_columns(sql)).rows if row[0] not in present -%}
        {%- do run_query('alter table ' ~ dbt_provenance.name_of(landing) ~ ' add column ' ~ row[0] ~ ' ' ~ row[1]) -%}
        {%- do added.append(row[0]) -%}
    {%- endfor -%}
    {%- if added -%}
        {%- do log('dbt_provenance: ' ~ landing.identifier ~ ' was made by an older release; added ' ~ added | join(', ') ~ ', null in the rows it has', info=true) -%}
    {%- endif -%}
    {{ return(added) }}
{%- endmacro %}

{#- A select of name and type of each column of another select. -#}
{% macro described_columns(sql) -%}
    {{ return(adapter.dispatch('described_columns', 'dbt_provenance')(sql)) }}
{%- endmacro %}

{% macro duckdb__described_columns(sql) -%}
    select column_name, column_type from (describe {{ sql }})
{%- endmacro %}

{#- Nothing is captured while there is no ledger: erased texts would come back, and raw rows without a ledger mean that it was lost. -#}
{% macro fill_from_graph(landing) -%}
    {%- if not dbt_provenance.is_own_table(dbt_provenance.own_relation('prov_ledger')) -%}
        {%- do log('dbt_provenance: nothing captured, prov_ledger is not there yet; `dbt build --select package:dbt_provenance` creates it', info=true) -%}
    {%- else -%}
        {%- do dbt_provenance.capture_graph(landing) -%}
    {%- endif -%}
{%- endmacro %}
