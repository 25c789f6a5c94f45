"""Benchmarks of dbt_provenance: `python -m bench` prints every figure of docs/benchmarks.md."""
