# Two commands for newcomers: `make demo` and `make test`. Both set up .venv by themselves.
PYTHON ?= python3
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
BIN := .venv/bin
READY := .venv/.ready-$(VERSION)
READY_TO_TEST := .venv/.ready-to-test-$(VERSION)
PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-slow lint bench install clean

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

bench: $(READY)
	$(BIN)/rigidgrains bench

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

clean:
	rm -rf .venv demo build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
