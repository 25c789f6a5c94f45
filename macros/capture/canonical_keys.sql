{#-
    What is kept of each resource: the short list that evidence is made of. It stands here alone: the capture in Jinja
    calls this macro, Python reads the JSON between the two marks. So the object is written as JSON that is also a Jinja
    literal (double quotes, no null). The rules by which it is applied stand in capture/canonical.py.

    common      keys kept of every type of resource; <resource type>  keys kept of that type besides
    column      keys kept of each column
    inside      keys kept inside a kept mapping, or inside each mapping of a kept list
    dropped     common keys not kept of that type, because an engine fills them in by itself
    defaults    values that mean the same as saying nothing, by key, at any depth outside meta
    deepest     how deep mappings and lists are followed, the value of a key being the first; too_deep  what stands there below
-#}
{%- macro canonical_keys() -%}
{# keys:begin #}
{% set keys = {
    "common": ["name", "resource_type", "package_name", "description", "meta", "tags", "group", "depends_on"],
    "column": ["description", "data_type", "tags", "meta", "constraints"],
    "model": [
        "database", "schema", "alias", "relation_name", "columns", "constraints", "primary_key", "access", "version",
        "latest_version", "deprecation_date", "materialized", "unique_key", "contract", "grants"
    ],
    "seed": ["database", "schema", "alias", "relation_name", "columns", "grants"],
    "snapshot": ["database", "schema", "alias", "relation_name", "columns", "unique_key", "grants"],
    "source": [
        "source_name", "source_description", "loader", "database", "schema", "identifier", "relation_name", "columns",
        "freshness", "loaded_at_field", "loaded_at_query"
    ],
    "function": ["database", "schema", "alias", "arguments", "returns", "grants"],
    "test": ["attached_node", "column_name", "test_metadata"],
    "unit_test": ["model", "version"],
    "exposure": ["label", "type", "maturity", "url", "owner"],
    "group": ["owner"],
    "metric": ["label", "type", "type_params", "filter", "time_granularity"],
    "semantic_model": [
        "label", "model", "node_relation", "primary_entity", "entities", "dimensions", "measures", "defaults"
    ],
    "saved_query": ["label", "query_params", "exports"],
    "doc": ["block_contents"],
    "inside": {
        "contract": ["enforced"],
        "test_metadata": ["name", "namespace"],
        "type_params": [
            "measure", "numerator", "denominator", "expr", "window", "grain_to_date", "metrics", "conversion_type_params",
            "cumulative_type_params", "metric_aggregation_params", "fill_nulls_with", "join_to_timespine", "is_private"
        ],
        "node_relation": ["relation_name"],
        "entities": ["name", "type", "description", "label", "role", "expr", "meta"],
        "dimensions": ["name", "type", "description", "label", "is_partition", "type_params", "expr", "meta"],
        "measures": [
            "name", "description", "label", "agg", "expr", "agg_params", "agg_time_dimension", "non_additive_dimension",
            "create_metric", "meta"
        ],
        "exports": ["name", "config"]
    },
    "dropped": {
        "group": ["tags"],
        "operation": ["meta", "tags", "depends_on"],
        "test": ["group"]
    },
    "defaults": {
        "access": ["protected"],
        "enforced": [false],
        "warn_unenforced": [true],
        "warn_unsupported": [true],
        "create_metric": [false],
        "is_partition": [false],
        "is_private": [false],
        "join_to_timespine": [false],
        "use_approximate_percentile": [false],
        "use_discrete_percentile": [false]
    },
    "deepest": 20,
    "too_deep": "[nested deeper than 20 levels: not captured]"
} %}
{# keys:end #}
{{ return(keys) }}
{%- endmacro -%}
