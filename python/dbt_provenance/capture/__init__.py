"""The wing of evidence: what dbt wrote, and Markdown pages, become rows for the raw relations."""
