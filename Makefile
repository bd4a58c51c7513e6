# Commands for newcomers: `make demo`, `make test` and `make docs`. They set up .venv by themselves.
PYTHON ?= python3
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
BIN := .venv/bin
READY := .venv/.ready-$(VERSION)
READY_TO_TEST := .venv/.ready-to-test-$(VERSION)
PYTHONDONTWRITEBYTECODE :=

READY_FOR_DOCS := .venv/.ready-for-docs-$(VERSION)

.PHONY: demo test test-slow lint docs notebooks bench bench-record install clean

demo: $(READY)
	$(BIN)/rigidgrains run src/rigidgrains/gallery/piston.toml --output demo --force

test: $(READY_TO_TEST)
	$(BIN)/python -m pytest

test-slow: $(READY_TO_TEST)
	$(BIN)/python -m pytest -m slow

lint: $(READY_TO_TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(READY_FOR_DOCS)
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

notebooks: $(READY_FOR_DOCS)
	$(BIN)/python docs/notebooks/execute.py --check

bench: $(READY)
	$(BIN)/rigidgrains bench

bench-record: $(READY)
	$(BIN)/rigidgrains bench --quick --json | $(BIN)/python benchmarks/record.py
	$(BIN)/python benchmarks/slower.py

install: $(READY)

# The mark is written last: without it, what an interrupted install left behind is thrown away.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "'$(PYTHON)' is no Python 3.11 or newer; name one: make PYTHON=/path/to/python $(MAKECMDGOALS)"; exit 1; }
	@test -f $@ || rm -rf .venv
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(READY_TO_TEST): $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	@touch $@

$(READY_FOR_DOCS): $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[docs,view,formats,study]'
	@touch $@

clean:
	rm -rf .venv demo build dist docs/_build .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
