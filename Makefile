# Drillyard: `make demo` runs a whole drill on real vLLM, `make test` passes the tests. Both start from nothing but this folder.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO ?=
TESTS ?=
# How many processes run the tests; 0: one after the other, which a debugger needs.
WORKERS ?= 2
PARALLEL := -n $(WORKERS) --dist worksteal
NO_TESTS := 5

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-vllm check format lock clean

help: ## show what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(VENV)/.complete ## make .venv with everything the project needs

$(VENV)/.complete: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Drillyard needs Python 3.11 or newer; $(PYTHON) is `$(PYTHON) --version 2>&1`. Try: make setup PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "$(PYTHON) lacks its venv module; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "Setting up $(VENV) (about half a minute) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: setup ## start everything with real vLLM and sample data; Ctrl-C stops it all
	@exec $(BIN)/drillyard up $(DEMO)

test: setup ## everything that needs no vLLM: real Redis, real Postgres, started by the tests themselves
	@failed=0; \
	$(BIN)/python -m pytest $(PARALLEL) -m "not vllm and not alone" $(TESTS) || [ $$? = $(NO_TESTS) ] || failed=1; \
	$(BIN)/python -m pytest -n 0 -m "alone" $(TESTS) || [ $$? = $(NO_TESTS) ] || failed=1; \
	exit $$failed

test-vllm: setup ## the main job, and the simulator's contract, on real vLLM (CPU, or a GPU when there is one)
	@$(BIN)/python -m pytest -n 0 -m vllm --timeout 1800 tests/vllm tests/contract/simulator

check: setup ## format, lint, types, import contracts, shape, and full coverage of the pure parts
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/python -m pytest -q $(PARALLEL) tests/architecture tests/unit -m "not vllm" --cov --cov-report=
	@$(BIN)/coverage report --include='*/domain/*' --fail-under=100

format: setup ## lay the code out
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

lock: ## write requirements.lock anew (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --extra local --extra load --extra dev --no-header pyproject.toml -o requirements.lock

clean: ## remove the environment and the stack's data (the model cache stays)
	rm -rf $(VENV) .drillyard build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
