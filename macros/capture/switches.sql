{#- What is switched on. `provenance_enabled` false turns all of it off; `provenance_switches` turns off a part (hook, capture, results,
    freshness), a section of the graph (exposures, ...), a command or a target:
    {results: false, exposures: false, commands: {test: false}, targets: {ci: false}}. A section that is off is unavailable: nothing of it closes. -#}
{% macro is_switched_on(part) -%}
    {%- if var('provenance_enabled', true) | string | lower == 'false' -%}{{ return(false) }}{%- endif -%}
    {%- set off = dbt_provenance.switched_off() -%}
    {{ return(part not in off.parts and target.name not in off.targets and dbt_provenance.command_name(flags.WHICH) not in off.commands) }}
{%- endmacro %}

{#- What the variable turns off, and what of it is not understood: that is passed over, and said. -#}
{% macro switched_off() -%}
    {%- set switches = var('provenance_switches', {}) or {} -%}
    {%- set parts = ['hook', 'capture', 'results', 'freshness'] + (dbt_provenance.graph_sections() | list) -%}
    {%- set off = {'parts': [], 'commands': [], 'targets': [], 'passed_over': []} -%}
    {%- if switches is not mapping -%}
        {%- do off.passed_over.append('all of it, which is no mapping') -%}
        {{ return(off) }}
    {%- endif -%}
    {%- set own = {} -%}
    {%- for key, value in switches.items() -%}
        {%- if key not in ['commands', 'targets'] -%}
            {%- do own.update({key: value}) -%}
        {%- elif value is mapping -%}
            {%- do dbt_provenance.add_switched_off(off, key, value, dbt_provenance.recorded_commands() if key == 'commands' else none) -%}
        {%- else -%}
            {%- do off.passed_over.append(key ~ ', which is no mapping of names to false') -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do dbt_provenance.add_switched_off(off, 'parts', own, parts) -%}
    {{ return(off) }}
{%- endmacro %}

{#- Adds the names that are given as false; `known` is none when any name may be meant. -#}
{% macro add_switched_off(off, kind, given, known) -%}
    {%- for key, value in given.items() -%}
        {%- set name = dbt_provenance.command_name(key) if kind == 'commands' else key | string -%}
        {%- set word = value | string | lower -%}
        {%- if known is not none and name not in known -%}
            {%- do off.passed_over.append(key ~ ' (known: ' ~ known | join(', ') ~ (', commands, targets' if kind == 'parts' else '') ~ ')') -%}
        {%- elif word not in ['true', 'false'] -%}
            {%- do off.passed_over.append(key ~ ', which is neither true nor false') -%}
        {%- elif word == 'false' -%}
            {%- do off[kind].append(name) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}

{#- The commands that are recorded. -#}
{% macro recorded_commands() -%}
    {{ return(['build', 'run', 'test', 'seed', 'snapshot', 'source freshness', 'retry', 'clone']) }}
{%- endmacro %}

{#- The engines write `source freshness` in three ways. -#}
{% macro command_name(which) -%}
    {{ return('source freshness' if 'freshness' in (which | string) else which | string) }}
{%- endmacro %}

{#- Said once a run, whatever is switched off. -#}
{% macro say_passed_over_switches() -%}
    {%- set passed_over = dbt_provenance.switched_off().passed_over -%}
    {%- if passed_over and var('provenance_enabled', true) | string | lower != 'false' -%}
        {%- do log('dbt_provenance: provenance_switches: passed over ' ~ passed_over | join('; '), info=true) -%}
    {%- endif -%}
{%- endmacro %}
