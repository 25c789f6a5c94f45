{#-
    tokens(text)   varchar[], the words and then the whole identifiers: `metric.net_revenue` gives metric, net, revenue,
                   metric.net_revenue, net_revenue; `HTTPServerError` gives http, server, error
    words(text)    varchar[], the parts alone and in order: to find a name in one contiguous span

    A word is a run of letters, marks and digits of any script, split at camelCase, in lower case, in Latin, Greek and Cyrillic
    without accents; a run of Chinese, Japanese or Korean becomes overlapping pairs. An identifier is words joined by _ or . without a
    blank. Null gives []. Tables of characters do what \p{L}, lower() and strip_accents() do differently from engine to engine.
    The twin in Python is python/dbt_provenance/answer/tokens.py. text_sql is written several times: a column or an argument.
-#}
{% macro tokens(text_sql) -%}
    {{ return(adapter.dispatch('tokens', 'dbt_provenance')(text_sql)) }}
{%- endmacro %}

{% macro words(text_sql) -%}
    {{ return(adapter.dispatch('words', 'dbt_provenance')(text_sql)) }}
{%- endmacro %}

{% macro default__tokens(text_sql) -%}
    {{ return(dbt_provenance.unsupported()) }}
{%- endmacro %}

{% macro default__words(text_sql) -%}
    {{ return(dbt_provenance.unsupported()) }}
{%- endmacro %}

{#- ASCII needs no table. list_transform over a list of one gives the folded text a name: it is written and computed once. -#}
{% macro duckdb__tokens(text_sql) -%}
    {%- set text = 'cast((' ~ text_sql ~ ') as varchar)' -%}
    case
        when strlen({{ text }}) = length({{ text }}) then list_concat(
            {{ dbt_provenance._duckdb_split(dbt_provenance._duckdb_parts(text)) }},
            {{ dbt_provenance._duckdb_identifiers(text) }}
        )
        else list_transform([{{ dbt_provenance._duckdb_folded(text) }}], lambda tok_text: list_concat(
            {{ dbt_provenance._duckdb_words_of('tok_text') }},
            {{ dbt_provenance._duckdb_identifiers('tok_text') }}
        ))[1]
    end
{%- endmacro %}

{% macro duckdb__words(text_sql) -%}
    {%- set text = 'cast((' ~ text_sql ~ ') as varchar)' -%}
    case
        when strlen({{ text }}) = length({{ text }}) then {{ dbt_provenance._duckdb_split(dbt_provenance._duckdb_parts(text)) }}
        else list_transform([{{ dbt_provenance._duckdb_folded(text) }}], lambda tok_text: {{ dbt_provenance._duckdb_words_of('tok_text') }})[1]
    end
{%- endmacro %}

{% macro _duckdb_words_of(folded) -%}
    {{ dbt_provenance._duckdb_split(dbt_provenance._duckdb_pairs(dbt_provenance._duckdb_expanded(dbt_provenance._duckdb_parts(folded)))) }}
{%- endmacro %}

{#- Accents off, a blank for whatever beyond ASCII separates words, CJK cut off from Latin, and of upper case only the A-Z that
    camelCase needs: lower() then has nothing to do beyond ASCII, where engines differ. -#}
{% macro _duckdb_folded(text) -%}
    {%- set characters = fromjson(dbt_provenance._token_characters()) -%}
    {%- set cjk = '[' ~ dbt_provenance._duckdb_class(characters.cjk) ~ ']' -%}
    {%- set folded -%}
        regexp_replace(
            translate(
                regexp_replace({{ text }}, '[{{ dbt_provenance._duckdb_class(characters.dropped) }}]+', '', 'g'),
                {{ dbt_provenance._duckdb_fold_side(text, characters.folds, 0) }},
                {{ dbt_provenance._duckdb_fold_side(text, characters.folds, 1) }}
            ),
            '[^\x00-\x7F{{ dbt_provenance._duckdb_class(characters.letters) }}]+', ' ', 'g'
        )
    {%- endset -%}
    coalesce(regexp_replace(regexp_replace({{ folded }}, '({{ cjk }})([A-Za-z0-9])', '\1 \2', 'g'), '([A-Za-z0-9])({{ cjk }})', '\1 \2', 'g'), '')
{%- endmacro %}

{#- translate() builds its map anew for each row, so it gets only the groups of letters that the text uses. -#}
{% macro _duckdb_fold_side(text, groups, side) -%}
    concat(
    {%- for group in groups %}
        case when regexp_matches({{ text }}, '[{{ dbt_provenance._duckdb_class(group.near) }}]') then '{% for row in group.rows %}{{ row[side] }}{% endfor %}' end
        {%- if not loop.last %},{% endif %}
    {%- endfor %}
    )
{%- endmacro %}

{#- Blanks into camelCase: fctOrders to fct Orders, then HTTPServer to HTTP Server; KPIs, A1B2 and v2 stay whole. -#}
{% macro _duckdb_parts(folded) -%}
    lower(regexp_replace(regexp_replace({{ folded }}, '([a-z][0-9]*)([A-Z])', '\1 \2', 'g'), '([A-Z][0-9]*)([A-Z](?:[a-rt-z]|s[a-z]))', '\1 \2', 'g'))
{%- endmacro %}

{#- string_split is seven times as fast as regexp_extract_all. -#}
{% macro _duckdb_split(parts) -%}
    list_filter(string_split(regexp_replace({{ parts }}, '[^a-z0-9\x{80}-\x{10FFFF} ]+', ' ', 'g'), ' '), lambda tok_word: tok_word <> '')
{%- endmacro %}

{#- What holds a dot, then each run between dots that holds an underscore. -#}
{% macro _duckdb_identifiers(folded) -%}
    {%- set letters = 'A-Za-z0-9\\x{80}-\\x{10FFFF}' -%}
    list_transform(list_concat(
        regexp_extract_all({{ folded }}, '[{{ letters }}][_{{ letters }}]*\.[_.{{ letters }}]*[{{ letters }}]'),
        regexp_extract_all({{ folded }}, '[{{ letters }}]+_[_{{ letters }}]*[{{ letters }}]')
    ), lambda tok_identifier: {{ dbt_provenance._duckdb_expanded('lower(tok_identifier)') }})
{%- endmacro %}

{#- ß to ss: after camelCase is split, for STRAßE is one word. -#}
{% macro _duckdb_expanded(lowered) -%}
    {%- set expansions = fromjson(dbt_provenance._token_characters()).expansions -%}
    {%- for expansion in expansions %}replace({% endfor %}{{ lowered }}{% for expansion in expansions %}, '{{ expansion[0] }}', '{{ expansion[1] }}'){% endfor %}
{%- endmacro %}

{#- 净收入 to 净 净收 收入 入, then without the ends of the run; a single one, 净 净, to 净. -#}
{% macro _duckdb_pairs(text) -%}
    {%- set cjk = '[' ~ dbt_provenance._duckdb_class(fromjson(dbt_provenance._token_characters()).cjk) ~ ']' -%}
    regexp_replace(
        regexp_replace({{ text }}, '({{ cjk }})', '\1 \1', 'g'),
        '{{ cjk }} ((?:{{ cjk }}{2} )+){{ cjk }}|({{ cjk }}) {{ cjk }}', ' \1\2 ', 'g'
    )
{%- endmacro %}

{#- The inside of a character class from ranges such as 0000C0-0000D6. -#}
{% macro _duckdb_class(ranges) -%}
    {{ return('\\x{' ~ (ranges | join(' ') | replace('-', '}-\\x{') | replace(' ', '}\\x{')) ~ '}') }}
{%- endmacro %}
