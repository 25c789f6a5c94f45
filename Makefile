# Two commands for a newcomer: `make demo` and `make test`. Everything is set up in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXAMPLE := integration_tests/net_revenue
export DBT_SEND_ANONYMOUS_USAGE_STATS := false

.PHONY: demo test test-matrix lint bench clean

$(VENV)/.demo: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[duckdb,load]'
	touch $@

$(VENV)/.test: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@ $(VENV)/.demo

$(VENV)/.bench: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,bench]'
	touch $@

## builds the worked example of net revenue and asks it questions
demo: $(VENV)/.demo
	$(BIN)/python $(EXAMPLE)/demo.py

## everything that CI runs
test: $(VENV)/.test
	$(BIN)/python -m pytest --numprocesses 2 --dist loadgroup

## the conformance cases and the integration projects on dbt Core 1.10, 1.11, 1.12 and dbt 2; writes docs/conformance.md
test-matrix: $(VENV)/.test
	PROVENANCE_ENGINES="Core 1.10, Core 1.11, Core 1.12, dbt 2" $(BIN)/python -m pytest tests/conformance tests/test_crashes.py --numprocesses 2 --dist loadgroup --conformance-table docs/conformance.md

lint: $(VENV)/.test
	$(BIN)/ruff check python tests bench tools

## figures for docs/benchmarks.md; takes a while
bench: $(VENV)/.bench
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) $(EXAMPLE)/target $(EXAMPLE)/dbt_packages $(EXAMPLE)/logs $(EXAMPLE)/*.duckdb
