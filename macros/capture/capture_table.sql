{#- What was seen, for the length of one capture: a table of this invocation's own. Not a temporary one: dbt 2 may send each statement over
    another connection. One that a crash left behind is dropped when it is older than an hour; a younger one may be another capture's. -#}
{% macro create_capture_table(landing, cost) -%}
    {%- set prefix = 'prov_seen_' -%}
    {%- for row in dbt_provenance.send(dbt_provenance.tables_called(landing, 'prov_seen'), cost).rows if row[0] == 'prov_seen' or row[0][:22] < prefix ~ dbt_provenance.minute(-3600) -%}
        {%- do dbt_provenance.send('drop table if exists ' ~ dbt_provenance.beside(landing, row[0]), cost) -%}
    {%- endfor -%}
    {%- set seen = dbt_provenance.beside(landing, prefix ~ dbt_provenance.minute(0) ~ '_' ~ local_md5(invocation_id)[:12]) -%}
    {%- do dbt_provenance.send('drop table if exists ' ~ seen, cost) -%}
    {%- do dbt_provenance.send('create table ' ~ seen ~ ' (unique_id ' ~ dbt.type_string() ~ ', document ' ~ dbt.type_string() ~ ', document_hash ' ~ dbt.type_string() ~ ', location ' ~ dbt.type_string() ~ ')', cost) -%}
    {{ return(seen) }}
{%- endmacro %}

{#- The minute, UTC, as twelve digits that sort, so many seconds from now. -#}
{% macro minute(seconds) -%}
    {{ return((modules.datetime.datetime.utcnow() + modules.datetime.timedelta(seconds=seconds)).strftime('%Y%m%d%H%M')) }}
{%- endmacro %}

{#- The name of another table in the schema of a relation. -#}
{% macro beside(relation, identifier) -%}
    {{ return(dbt_provenance.name_of(api.Relation.create(database=relation.database, schema=relation.schema, identifier=identifier))) }}
{%- endmacro %}

{#- A select of the names of the tables beside a relation that begin with some letters. -#}
{% macro tables_called(relation, prefix) -%}
    select table_name
    from information_schema.tables
    where lower(table_catalog) = lower({{ dbt_provenance.literal(relation.database) }})
      and lower(table_schema) = lower({{ dbt_provenance.literal(relation.schema) }})
      and table_name like {{ dbt_provenance.literal(prefix ~ '%') }}
{%- endmacro %}
