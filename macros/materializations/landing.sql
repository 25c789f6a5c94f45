{#- A table that is created when missing and never dropped, also under --full-refresh; its model's SQL only gives the columns.
    Each landing model then fills itself through the macro named in `meta.fill`. -#}
{% materialization provenance_landing, default %}
    {%- set landing = this.incorporate(type='table') -%}
    {%- set is_new = not dbt_provenance.exists_in_warehouse(this) -%}
    {%- call statement('main') -%}
        create table if not exists {{ dbt_provenance.name_of(this) }} as
        select * from ({{ sql }}) as landing_columns where false
    {%- endcall -%}
    {%- set fill = config.get('meta', {}).get('fill') -%}
    {%- if fill == 'graph' -%}
        {%- do dbt_provenance.capture_graph(landing) -%}
    {%- elif fill == 'seal' and is_new -%}
        {%- do dbt_provenance.seal_lost_ledger(landing) -%}
    {%- endif -%}
    {%- do adapter.commit() -%}
    {{ return({'relations': [landing]}) }}
{% endmaterialization %}
