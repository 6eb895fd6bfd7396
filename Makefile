# Everything a newcomer or CI needs; every target sets up what it uses.
# Needs python3 >= 3.11 and make; nothing else.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
# One more than the cores that CI has: many tests wait for processes of their own.
WORKERS ?= 3
SEED ?=

.PHONY: help demo test test-clients test-terminal check screenshots bench soak fmt lock clean docs
.DEFAULT_GOAL := help

help: ## Show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(STAMP): requirements/dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Headway needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) has no venv module. On Debian or Ubuntu: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: $(STAMP) ## The main job, no key needed
	@$(BIN)/python -m headway demo

test: $(STAMP) ## The whole test suite
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

test-clients: $(STAMP) ## Claude Code, Codex, opencode, pi, … unmodified through the gateway (needs npm; minutes)
	$(BIN)/python tests/clients/install.py
	HEADWAY_CLIENTS=1 $(BIN)/python -m pytest tests/clients -n $(WORKERS) -rs

test-terminal: $(STAMP) ## The terminal agent in real terminals, and escapes from the sandbox
	HEADWAY_TERMINAL_TESTS=1 $(BIN)/python -m pytest tests/spec/test_chat.py tests/spec/test_chat_at_hand.py tests/spec/test_chat_hangup.py tests/spec/test_sandbox_escapes.py

check: $(STAMP) ## Format, lint, types, layers, docs drift, tests: what must be green before a change lands
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m headway.cli.reference --check
	$(MAKE) --no-print-directory test

screenshots: $(STAMP) ## Take the pictures of the README again (needs tmux)
	$(BIN)/python scripts/screenshots.py

bench: $(STAMP) ## Side-by-side benchmarks with peers; prints ratios
	$(BIN)/python -m benchmarks

soak: $(STAMP) ## Properties and worlds, many more of them (EXAMPLES=20000 WORLDS=5000)
	HEADWAY_EXAMPLES=$(or $(EXAMPLES),20000) HEADWAY_WORLDS=$(or $(WORLDS),5000) $(BIN)/python -m pytest -n $(WORKERS) tests/property tests/spec/test_worlds.py --timeout 7200

fmt: $(STAMP) ## Format and fix what can be fixed by machine
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(STAMP) ## Write the generated reference pages again
	$(BIN)/python -m headway.cli.reference

lock: $(STAMP) ## Resolve the development dependencies again
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --extra fast --extra sdks --extra test --extra check pyproject.toml requirements/build.in -o requirements/dev.lock

clean: ## Remove what the other targets made
	rm -rf $(VENV) .clients dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage htmlcov
