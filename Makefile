# Every task of the project, one line each in `make help`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?=

PROGRAMS := tmux redis-server chromium bwrap rg
PACKAGES := tmux redis-server chromium bubblewrap ripgrep

# What the installation depends on: dependencies and entry points. The package itself is editable.
SOURCES := pyproject.toml

.DEFAULT_GOAL := help
.PHONY: help demo test check dev bench bench-context soak fuzz snap system

help:  ## list the tasks
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "make %-8s %s\n", $$1, $$2}'

demo: $(VENV)/.stamp-run  ## install into .venv and run a whole session without any key
	@$(BIN)/tori demo

test: $(VENV)/.stamp-test  ## run the tests (PYTEST_ARGS="-k name" for some of them)
	@$(BIN)/python -m pytest -n 3 -rs $(PYTEST_ARGS)

check: $(VENV)/.stamp-check  ## format, lint, types and layers
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

dev: $(VENV)/.stamp-test $(VENV)/.stamp-check  ## install everything for working on tori
	@echo "Ready: $(BIN)/tori"

bench: $(VENV)/.stamp-test  ## measure speed and size, and print a table
	@$(BIN)/python -m tests.bench.run

ECONOMY ?= ../shared/context_economy

bench-context: $(VENV)/.stamp-bench  ## measure what the context engine costs and forgets (ECONOMY=DIR of the meter)
	@$(BIN)/python -m tests.bench.context_economy $(ECONOMY)

SECONDS ?= 600

soak: $(VENV)/.stamp-test  ## work for ten minutes against a faulty server, with kills and interrupts (SECONDS=60)
	@$(BIN)/python -m tests.soak $(SECONDS) $(SEED)

fuzz: $(VENV)/.stamp-test  ## feed rubbish to what reads from outside, five minutes each (FUZZ_SECONDS=60)
	@$(BIN)/python -m tests.fuzz $(FUZZ_SECONDS)

FUZZ_SECONDS ?= 300

snap: $(VENV)/.stamp-test  ## draw the pictures of the screen tests anew; look at each change
	@$(BIN)/python -m pytest -n 2 tests/ui --snapshot-update $(PYTEST_ARGS)

system:  ## install the programs that some tests need (apt, as root or with sudo)
	@missing=""; for program in $(PROGRAMS); do command -v $$program >/dev/null || missing="$$missing $$program"; done; \
	if [ -z "$$missing" ]; then echo "All programs are here: $(PROGRAMS)"; exit 0; fi; \
	echo "Missing:$$missing"; \
	sudo=""; [ "$$(id -u)" = 0 ] || sudo="sudo"; \
	$$sudo apt-get update -qq && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(PACKAGES)

# A .venv that is already there is used as it is.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("tori needs Python 3.11 or newer, not " + sys.version.split()[0] + "; set PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	@echo "Making $(VENV)"
	@$(PYTHON) -m venv $(VENV) || { echo "On Debian: apt install python3-venv" >&2; exit 1; }

$(VENV)/.stamp-run: $(SOURCES) | $(BIN)/python
	@echo "Installing tori into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.stamp-test: $(SOURCES) | $(BIN)/python
	@echo "Installing tori and what its tests need into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@ $(VENV)/.stamp-run

$(VENV)/.stamp-bench: $(SOURCES) | $(BIN)/python
	@echo "Installing tori and what its benches need into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,bench]'
	@touch $@ $(VENV)/.stamp-test $(VENV)/.stamp-run

$(VENV)/.stamp-check: $(SOURCES) | $(BIN)/python
	@echo "Installing the checkers into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,check]'
	@touch $@ $(VENV)/.stamp-test $(VENV)/.stamp-run
