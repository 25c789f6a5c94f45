# Two commands for a newcomer: `make demo` and `make test`. Everything is set up in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXAMPLE := integration_tests/net_revenue
export DBT_SEND_ANONYMOUS_USAGE_STATS := false

.PHONY: demo test lint bench clean

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

lint: $(VENV)/.test
	$(BIN)/ruff check python tests bench tools

## figures for docs/benchmarks.md; takes a while
bench: $(VENV)/.bench
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) $(EXAMPLE)/target $(EXAMPLE)/dbt_packages $(EXAMPLE)/logs $(EXAMPLE)/*.duckdb
