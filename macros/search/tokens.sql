{#-
    tokens(text)   varchar[] for the index and the query: words(text), then every whole identifier. `metric.net_revenue` gives
                   metric, net, revenue, metric.net_revenue, net_revenue; `HTTPServerError` gives http, server, error
    words(text)    varchar[] of the parts alone, in order: to find a name contiguous in a question

    A word is a run of letters, marks and digits of any script, in lower case, without accents in Latin, Greek and Cyrillic; a run of
    Chinese, Japanese or Korean becomes overlapping pairs. An identifier is words joined by _ or . without a blank. Null gives [].
    python/dbt_provenance/answer/tokens.py is the same, step by step. Tables of characters instead of \p{L}, lower() and
    strip_accents(): those differ between engines and releases. A text of ASCII alone needs none of them.
-#}
{% macro tokens(text_sql) -%}
    {{ return(adapter.dispatch('tokens', 'dbt_provenance')(text_sql)) }}
{%- endmacro %}

{% macro words(text_sql) -%}
    {{ return(adapter.dispatch('words', 'dbt_provenance')(text_sql)) }}
{%- endmacro %}

{% macro default__tokens(text_sql) -%}
    {{ exceptions.raise_compiler_error('dbt_provenance.tokens is not written for the adapter ' ~ adapter.type() ~ ': only duckdb has it') }}
{%- endmacro %}

{% macro default__words(text_sql) -%}
    {{ exceptions.raise_compiler_error('dbt_provenance.words is not written for the adapter ' ~ adapter.type() ~ ': only duckdb has it') }}
{%- endmacro %}

{% macro duckdb__tokens(text_sql) -%}
    {%- set text = 'cast((' ~ text_sql ~ ') as varchar)' -%}
    {%- set plain %}case when strlen({{ text }}) = length({{ text }}) then lower({{ text }}) else coalesce({{ dbt_provenance._duckdb_lower(dbt_provenance._duckdb_folded(text)) }}, '') end{% endset -%}
    list_concat(
        {{ dbt_provenance.words(text_sql) }},
        regexp_extract_all({{ plain }}, '[a-z0-9\x{80}-\x{10FFFF}][a-z0-9_\x{80}-\x{10FFFF}]*\.[a-z0-9_.\x{80}-\x{10FFFF}]*[a-z0-9\x{80}-\x{10FFFF}]'),
        regexp_extract_all({{ plain }}, '[a-z0-9\x{80}-\x{10FFFF}]+_[a-z0-9_\x{80}-\x{10FFFF}]*[a-z0-9\x{80}-\x{10FFFF}]')
    )
{%- endmacro %}

{% macro duckdb__words(text_sql) -%}
    {%- set text = 'cast((' ~ text_sql ~ ') as varchar)' -%}
    list_filter(
        string_split(
            regexp_replace(
                case
                    when strlen({{ text }}) = length({{ text }}) then lower({{ dbt_provenance._duckdb_camel_split(text) }})
                    else coalesce({{ dbt_provenance._duckdb_cjk_pairs(dbt_provenance._duckdb_lower(dbt_provenance._duckdb_camel_split(dbt_provenance._duckdb_folded(text)))) }}, '')
                end,
                '[^a-z0-9\x{80}-\x{10FFFF} ]+', ' ', 'g'
            ),
            ' '
        ),
        lambda tok_word: tok_word <> ''
    )
{%- endmacro %}

{#- Accents off, and a blank for whatever beyond ASCII separates words. -#}
{% macro _duckdb_folded(text) -%}
    {%- set characters = fromjson(dbt_provenance._token_characters()) -%}
    regexp_replace(
        translate(
            regexp_replace({{ text }}, '[{{ dbt_provenance._duckdb_class(characters.dropped) }}]+', '', 'g'),
            {{ dbt_provenance._duckdb_fold_side(text, characters.folds, 0) }},
            {{ dbt_provenance._duckdb_fold_side(text, characters.folds, 1) }}
        ),
        '[^\x00-\x7F{{ dbt_provenance._duckdb_class(characters.letters) }}]+', ' ', 'g'
    )
{%- endmacro %}

{#- translate() builds its map anew for each row: of the groups of letters only those that the text uses. -#}
{% macro _duckdb_fold_side(text, folds, side) -%}
    concat(
    {%- for group in folds %}
        case when regexp_matches({{ text }}, '[{{ dbt_provenance._duckdb_class(group.near) }}]') then '{% for row in group.rows %}{{ row[side] }}{% endfor %}' end{{ ',' if not loop.last }}
    {%- endfor %}
    )
{%- endmacro %}

{#- fctOrdersV2 to fct Orders V2, HTTPServer to HTTP Server; KPIs, A1B2 and v2 stay whole. -#}
{% macro _duckdb_camel_split(text) -%}
    regexp_replace(regexp_replace({{ text }}, '([a-z][0-9]*)([A-Z])', '\1 \2', 'g'), '([A-Z][0-9]*)([A-Z](?:[a-rt-z]|s[a-z]))', '\1 \2', 'g')
{%- endmacro %}

{#- What is left of upper case after folding is ASCII. -#}
{% macro _duckdb_lower(text) -%}
    {%- for expansion in fromjson(dbt_provenance._token_characters()).expansions %}replace({% endfor -%}
    translate({{ text }}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')
    {%- for expansion in fromjson(dbt_provenance._token_characters()).expansions %}, '{{ expansion[0] }}', '{{ expansion[1] }}'){% endfor -%}
{%- endmacro %}

{#- 净收入 to 净 净收 收入 入, then without the ends of the run; a single one, 净 净, to one 净. -#}
{% macro _duckdb_cjk_pairs(text) -%}
    {%- set cjk = '[' ~ dbt_provenance._duckdb_class(fromjson(dbt_provenance._token_characters()).cjk) ~ ']' -%}
    regexp_replace(
        regexp_replace({{ text }}, '({{ cjk }})', '\1 \1', 'g'),
        '{{ cjk }} ((?:{{ cjk }}{2} )+){{ cjk }}|({{ cjk }}) {{ cjk }}', ' \1\2 ', 'g'
    )
{%- endmacro %}

{#- The inside of a character class from ranges such as 0000C0-0000D6. -#}
{% macro _duckdb_class(ranges) -%}
    {{ return('\\x{' ~ ranges | join(' ') | replace('-', '}-\\x{') | replace(' ', '}\\x{') ~ '}') }}
{%- endmacro %}
