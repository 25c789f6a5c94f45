"""The ground that both wings stand on: which warehouse dbt writes to, what its relations are called, and a connection."""
