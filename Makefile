# Two commands on a fresh machine: `make demo` and `make test`. Each target makes `.venv` and installs what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The tests run side by side; one BLAS thread each keeps two cores busy without oversubscribing them.
export OMP_NUM_THREADS ?= 1

.PHONY: demo test lint bench bench-ours bench-fast bench-table bench-figures bench-peers bench-prediction bench-floor bench-means bench-rates bench-speed bench-wide bench-pure bench-coverage docs clean

$(VENV)/.base: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.test: $(VENV)/.base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test,plots]"
	touch $@

$(VENV)/.docs: $(VENV)/.base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	touch $@

demo: $(VENV)/.base
	$(BIN)/tailguard demo

lint: $(VENV)/.test
	$(BIN)/ruff check src tests benchmarks examples docs
	$(BIN)/ruff format --check src tests benchmarks examples docs
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

test: lint docs
	$(BIN)/python -m pytest -q -n 2

$(VENV)/.bench: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
	touch $@

# DATA=folder adds every table of the folder; a run that was stopped continues where it was.
bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks --publish $(if $(DATA),--data-dir $(DATA))

# Our fits alone, with the kept rows in place of all others.
bench-ours: $(VENV)/.bench
	$(BIN)/python -m benchmarks --kept --publish --methods tailguard $(if $(DATA),--data-dir $(DATA))

bench-fast: $(VENV)/.bench
	$(BIN)/python -m benchmarks --fast $(if $(DATA),--data-dir $(DATA))

bench-table: $(VENV)/.test
	$(BIN)/python -m benchmarks.table

bench-figures: $(VENV)/.test
	$(BIN)/python -m benchmarks.figures

# Whether predicted errors are right, on the summary that `make bench` keeps.
bench-prediction: $(VENV)/.test
	$(BIN)/python -m benchmarks.prediction

bench-floor: $(VENV)/.test
	$(BIN)/python -m benchmarks.floor

bench-means: $(VENV)/.test
	$(BIN)/python -m benchmarks.means

bench-rates: $(VENV)/.test
	$(BIN)/python -m benchmarks.rates

bench-speed: $(VENV)/.test
	$(BIN)/python -m benchmarks.speed

bench-wide: $(VENV)/.test
	$(BIN)/python -m benchmarks.wide

# One environment a peer under .peers/; the second call is instant.
bench-peers: $(VENV)/.test
	$(BIN)/python -m benchmarks.peers

bench-pure: $(VENV)/.test
	$(BIN)/python -m benchmarks.pure

bench-coverage: $(VENV)/.test
	$(BIN)/python -m benchmarks.coverage

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "The documentation is in site/index.html"

clean:
	rm -rf $(VENV) build dist site out
