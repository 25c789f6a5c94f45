{# Names that a package might use inside, too: each side finds its own. #}
{% macro get_node() %}{{ return('small') }}{% endmacro %}
{% macro escape() %}{{ return('small') }}{% endmacro %}
{% macro run_hook() %}{{ return('small') }}{% endmacro %}
{% macro literal(text) %}{{ return('small') }}{% endmacro %}
{% macro preflight() %}{{ return('small') }}{% endmacro %}
{% macro capture_graph() %}{{ return('small') }}{% endmacro %}
