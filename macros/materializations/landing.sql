{#- A table that is created when missing and never dropped, also under --full-refresh; its model's SQL only gives the columns.
    Each landing model then fills itself through the macro named in `meta.fill`. A view in its place is what `dbt clone` left. -#}
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
    {%- set fill = config.get('meta', {}).get('fill') -%}
    {%- if fill == 'graph' -%}
        {%- do dbt_provenance.fill_from_graph(landing) -%}
    {%- elif fill == 'seal' and is_new -%}
        {%- do dbt_provenance.seal_lost_ledger(landing) -%}
    {%- endif -%}
    {%- do adapter.commit() -%}
    {{ return({'relations': [landing]}) }}
{% endmaterialization %}

{#- Nothing is captured while there is no ledger: erased texts would come back, and raw rows without a ledger mean that it was lost.
    Nor into a table of other columns, as an older release of this package may have left it. -#}
{% macro fill_from_graph(landing) -%}
    {%- set missing = dbt_provenance.missing_columns(landing, model.columns) -%}
    {%- if not dbt_provenance.is_own_table(dbt_provenance.own_relation('prov_ledger')) -%}
        {%- do log('dbt_provenance: nothing captured, prov_ledger is not there yet; `dbt build --select package:dbt_provenance` creates it', info=true) -%}
    {%- elif missing -%}
        {%- do log('dbt_provenance: nothing captured, ' ~ landing.identifier ~ ' lacks ' ~ missing | join(', ') ~ '; see the changelog for how to upgrade it', info=true) -%}
    {%- else -%}
        {%- do dbt_provenance.capture_graph(landing) -%}
    {%- endif -%}
{%- endmacro %}
