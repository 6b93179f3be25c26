# make demo | test | lint: all that is needed is make and a Python 3.11 or newer. `make help` lists the rest.

PYTHONS := python3.11 python3.12 python3.13 python3 python
FIND_PYTHON = for name in $(PYTHONS); do \
	  if $$name -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then echo $$name; break; fi; \
	done
JOBS ?= 2
BIN := .venv/bin
MADE := .venv/.made
# loadscope: the tests of one file share a worker, and with it the warm children of its fixtures
PYTEST = $(BIN)/python -m pytest -n $(JOBS) --dist loadscope

# A .venv whose Python is gone, or that was made in another folder, is as good as none.
ifneq ($(wildcard $(MADE)),)
ifneq ($(shell $(BIN)/python -c 'import gonogo, os; print(os.path.samefile(os.path.dirname(gonogo.__file__), "src/gonogo"))' 2>/dev/null),True)
$(MADE): FORCE
endif
endif

.DEFAULT_GOAL := help
.PHONY: help setup demo test plain engines oracle lint format docs wheel clean FORCE

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

$(MADE): pyproject.toml
	@found="$$($(FIND_PYTHON))"; \
	if [ -z "$$found" ]; then \
	  echo "gonogo needs Python 3.11 or newer, with its venv module: none of $(PYTHONS) is one." >&2; \
	  echo "Install one (python3.11 and python3.11-venv, say), or name it: make PYTHONS=/path/to/python3.12 ..." >&2; \
	  exit 1; \
	fi; \
	rm -rf .venv && "$$found" -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $(MADE)

setup: $(MADE)  ## make .venv, again if pyproject.toml has changed

demo: $(MADE)  ## two launches that real engines refuse, and the same put right (fetches two releases the first time)
	@$(BIN)/python examples/demo.py

test: $(MADE)  ## all tests but those that need a real engine installed; real releases are fetched once
	$(PYTEST) -m 'not oracle'

plain: $(MADE)  ## the tests that need no network
	$(PYTEST) -m 'not engines and not oracle'

engines: $(MADE)  ## the tests on real releases
	$(PYTEST) -m engines

lint: $(MADE)  ## ruff, mypy, and who may import whom
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(MADE)  ## put the code into ruff's form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(MADE)  ## write again what the documents print: help texts, JSON Schema, outputs (runs real releases)
	$(BIN)/python docs/generate.py --outputs

wheel: $(MADE)  ## build the wheel into dist/
	$(BIN)/python -m build --wheel

# The real engines, installed (some 4 GB in .oracle/, hours to run): fresh launches are drawn, both are asked, compared.
# ORACLE_PIP: options for pip, where it should take torch from another place than usual.
VLLM_LAUNCHES ?= 2000
SGLANG_LAUNCHES ?= 600
GPU_LAUNCHES ?= 300
SEED ?= 1
ORACLE_PIP ?=
ASK = rm -f .oracle/fresh-$(1).jsonl \
	&& HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 VLLM_CPU_KVCACHE_SPACE=1 \
	  .oracle/$(1)/bin/python bench/oracle/tell_machine.py > .oracle/machine-$(1).json \
	&& $(BIN)/python bench/oracle/hunt.py $(1) --environment .oracle/$(1) --out .oracle/fresh-$(1).jsonl \
	  --launches $(2) --sites 0 --seed $(SEED) --jobs $(JOBS) \
	&& $(BIN)/python bench/agreement.py $(1)==$(3) .oracle/fresh-$(1).jsonl --machine .oracle/machine-$(1).json

SECOND_JUDGE = $(BIN)/python bench/oracle/second_judge.py $(1)==$(2) --environment .oracle/$(1) --launches $(GPU_LAUNCHES) --seed $(SEED)

.oracle/%/.made: bench/oracle/set_up.py bench/oracle/vllm-0.32.0.txt bench/oracle/sglang-0.5.23.txt | $(MADE)
	$(BIN)/python bench/oracle/set_up.py $* .oracle/$* $(ORACLE_PIP)
	@touch $@

oracle: $(MADE) .oracle/vllm/.made .oracle/sglang/.made  ## compare with the real engines (see CONTRIBUTING.md)
	$(call ASK,vllm,$(VLLM_LAUNCHES),0.32.0)
	$(call ASK,sglang,$(SGLANG_LAUNCHES),0.5.23)
	$(PYTEST) -m oracle
	$(call SECOND_JUDGE,vllm,0.32.0)
	$(call SECOND_JUDGE,vllm,0.33.0)
	$(call SECOND_JUDGE,sglang,0.5.23)

clean:  ## remove all that make made here, except fetched releases (gonogo releases remove)
	rm -rf .venv .oracle dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
