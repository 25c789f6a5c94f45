{#- The select that reads one of the policy relations (principals, groups, policies, authority), in this order of preference:
    the project's own (`provenance_<name>`: a list of rows, the name of a model or seed, or `source:<source>.<table>`), the package's
    seed, and where nobody ran `dbt seed` the same rows as the seed, built in. -#}
{% macro policy_relation(name) -%}
    {%- set columns = dbt_provenance.policy_columns()[name] -%}
    {%- set own = var('provenance_' ~ name, none) -%}
    {%- if own is none -%}
        {%- if dbt_version[:2] != '2.' -%}
            {%- set seed = ref('dbt_provenance', 'provenance_' ~ name) -%}
            {%- if execute and dbt_provenance.exists_in_warehouse(seed) -%}
                {{ return('select ' ~ columns.keys() | join(', ') ~ ' from ' ~ dbt_provenance.name_of(seed)) }}
            {%- endif -%}
        {%- endif -%}
        {{ return(dbt_provenance.rows_as_select(dbt_provenance.built_in_authority() if name == 'authority' else [], columns)) }}
    {%- elif own is string -%}
        {%- if own.startswith('source:') -%}
            {%- set relation = source(own[7:].split('.')[0], own[7:].split('.')[1]) -%}
        {%- else -%}
            {%- set relation = ref(own) -%}
        {%- endif -%}
        {{ return('select ' ~ columns.keys() | join(', ') ~ ' from ' ~ dbt_provenance.name_of(relation)) }}
    {%- endif -%}
    {%- set rows = dbt_provenance.readable_rows(own, keep_unreadable=(name == 'policies')) -%}
    {{ return(dbt_provenance.rows_as_select(dbt_provenance.policy_rows(rows) if name == 'policies' else rows, columns)) }}
{%- endmacro %}

{#- The rows of a variable, whatever stands in it: one row may stand alone, and what is no row grants nothing. A rule that is no row stays
    as an empty one, so that it closes. -#}
{% macro readable_rows(own, keep_unreadable) -%}
    {%- set rows = [] -%}
    {%- for row in ([own] if own is mapping or own is not iterable else own) -%}
        {%- if row is mapping -%}
            {%- do rows.append(row) -%}
        {%- elif keep_unreadable -%}
            {%- do rows.append({'policy_name': row | string}) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(rows) }}
{%- endmacro %}

{% macro policy_columns() -%}
    {{ return({
        'principals': {'principal': 'varchar', 'tenant': 'varchar', 'group_name': 'varchar', 'principal_role': 'varchar'},
        'groups': {'tenant': 'varchar', 'group_name': 'varchar', 'parent_group': 'varchar'},
        'policies': {'policy_name': 'varchar', 'tenant': 'varchar', 'applies_to': 'varchar', 'pattern': 'varchar', 'effect': 'varchar', 'group_name': 'varchar'},
        'authority': {'rule_kind': 'varchar', 'subject': 'varchar', 'rule_rank': 'integer', 'highest_status': 'varchar', 'may_govern': 'boolean', 'speaks_for_others': 'boolean', 'rule_comment': 'varchar'},
    }) }}
{%- endmacro %}

{#- Rules written as a list carry `allow` and `deny` lists; a row per effect and group is what the relation has. A rule without a
    readable group keeps one row without effect, so that it closes instead of vanishing. -#}
{% macro policy_rows(rules) -%}
    {%- set rows = [] -%}
    {%- for rule in rules -%}
        {%- set common = {'policy_name': rule.get('policy_name') or 'rule ' ~ loop.index, 'tenant': rule.get('tenant'), 'applies_to': rule.get('applies_to'), 'pattern': rule.get('pattern')} -%}
        {%- set effects = [] -%}
        {%- for effect in ['allow', 'deny'] -%}
            {%- set groups = rule.get(effect) or [] -%}
            {%- for group_name in ([groups] if groups is string else groups) -%}
                {%- do effects.append({'effect': effect, 'group_name': group_name}) -%}
            {%- endfor -%}
        {%- endfor -%}
        {%- if rule.get('effect') -%}
            {%- do effects.append({'effect': rule['effect'], 'group_name': rule.get('group_name')}) -%}
        {%- endif -%}
        {%- for effect in effects or [{'effect': none, 'group_name': none}] -%}
            {%- set row = dict(common) -%}
            {%- do row.update(effect) -%}
            {%- do rows.append(row) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(rows) }}
{%- endmacro %}

{% macro rows_as_select(rows, columns) -%}
    {%- set selects = [] -%}
    {%- for row in rows -%}
        {%- set fields = [] -%}
        {%- for column, data_type in columns.items() -%}
            {%- set found = row.get(column) -%}
            {%- do fields.append('cast(' ~ dbt_provenance.literal(none if found is none or found is undefined else found | string) ~ ' as ' ~ data_type ~ ') as ' ~ column) -%}
        {%- endfor -%}
        {%- do selects.append('select ' ~ fields | join(', ')) -%}
    {%- endfor -%}
    {%- if not selects -%}
        {%- set fields = [] -%}
        {%- for column, data_type in columns.items() -%}
            {%- do fields.append('cast(null as ' ~ data_type ~ ') as ' ~ column) -%}
        {%- endfor -%}
        {{ return('select ' ~ fields | join(', ') ~ ' where false') }}
    {%- endif -%}
    {{ return(selects | join('\nunion all\n')) }}
{%- endmacro %}

{#- The rows of seeds/provenance_authority.csv, for a project that never runs `dbt seed`; a test holds the two equal. -#}
{% macro built_in_authority() -%}
    {%- set rows = [] -%}
    {%- for subject, rank in {'authoritative': 1, 'approved': 2, 'unspecified': 3, 'deprecated': 4, 'superseded': 5, 'archived': 5, 'draft': 9}.items() -%}
        {%- do rows.append({'rule_kind': 'status', 'subject': subject, 'rule_rank': rank, 'may_govern': 'false' if subject == 'draft' else 'true'}) -%}
    {%- endfor -%}
    {%- for subject, rank in {'metric': 1, 'semantic_model': 2, 'model': 3, 'source': 4, 'other': 5, 'page': 6}.items() -%}
        {%- do rows.append({'rule_kind': 'kind', 'subject': subject, 'rule_rank': rank}) -%}
    {%- endfor -%}
    {%- do rows.append({'rule_kind': 'source', 'subject': 'building_project', 'rule_rank': 1, 'highest_status': 'authoritative', 'may_govern': 'true', 'speaks_for_others': 'true'}) -%}
    {%- do rows.append({'rule_kind': 'source', 'subject': 'page', 'rule_rank': 2, 'highest_status': 'approved', 'may_govern': 'true', 'speaks_for_others': 'false'}) -%}
    {%- do rows.append({'rule_kind': 'source', 'subject': 'other_project', 'rule_rank': 3, 'highest_status': 'unspecified', 'may_govern': 'false', 'speaks_for_others': 'false'}) -%}
    {{ return(rows) }}
{%- endmacro %}
