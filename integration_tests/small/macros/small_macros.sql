{# Names that the package uses inside, too: each side must find its own. #}
{% macro get_node() %}{{ return('small') }}{% endmacro %}
