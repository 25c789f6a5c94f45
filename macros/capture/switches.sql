{#- Whether a part of the package is switched on: `provenance_enabled` false turns all of it off, `provenance_switches` names parts
    (capture, results) with false, for instance by target: {"capture": "{{ target.name == 'prod' }}"}. -#}
{% macro is_switched_on(part) -%}
    {%- set switches = var('provenance_switches', {}) -%}
    {{ return((var('provenance_enabled', true) | string | lower != 'false') and (switches.get(part, true) | string | lower != 'false')) }}
{%- endmacro %}
