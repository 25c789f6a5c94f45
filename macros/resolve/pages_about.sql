{#- The visible pages that say they are about the entity of a CTE with one row, with the dates for which they hold. -#}
{% macro pages_about(entity_cte) -%}
    select
        pages.*,
        {{ dbt_provenance.row_holds_from('pages') }} as holds_from,
        {{ dbt_provenance.row_holds_to('pages') }} as holds_to,
        false as holds_when_asked_only
    from {{ dbt_provenance.relation('prov_int_evidence') }} as pages
    cross join given
    inner join {{ entity_cte }} as subject
        on lower(pages.about_text) in (lower(subject.entity_id), lower(subject.entity_type || '.' || subject.entity_name), lower(subject.entity_name))
    where pages.source_kind = 'page'
      and pages.evidence_type = 'definition'
      and pages.entity_id <> subject.entity_id
      and pages.recorded_from_utc <= given.given_known_at
      and {{ dbt_provenance.row_stands('pages') }}
      and {{ dbt_provenance.may_see('pages') }}
{%- endmacro %}
