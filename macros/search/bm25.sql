{#- BM25 of one term in one document (Robertson, Zaragoza, 2009, with the always positive idf of Lucene), as a whole number of
    millionths: sums of integers are the same on every engine and in every run. k1 = 1.2, b = 0.75. -#}
{% macro bm25_millionths(document_count, document_frequency, frequency, bag_length, mean_length) -%}
    cast(floor(1e6
        * ln(1 + ({{ document_count }} - {{ document_frequency }} + 0.5) / ({{ document_frequency }} + 0.5))
        * {{ frequency }} * 2.2
        / ({{ frequency }} + 1.2 * (0.25 + 0.75 * {{ bag_length }} / {{ mean_length }}))
        + 0.5) as bigint)
{%- endmacro %}
