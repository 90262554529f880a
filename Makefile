# Everything a developer types. `make` alone lists it.
# PYTHON picks the interpreter; each has its own virtual environment: make test PYTHON=python3.13
PYTHON ?= python3
VENV := $(if $(filter python3,$(PYTHON)),.venv,.venv-$(notdir $(PYTHON)))
STAMP := $(VENV)/.installed

# The tools of the virtual environment first; nothing here may wait for an accelerator.
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export JAX_PLATFORMS := cpu
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help setup demo test format lint types unit fuzz lit bench campaign check-readme clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-20s %s\n", $$1, $$2}'

setup: $(STAMP) ## make the virtual environment and install everything into it

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' || { echo \
	  "error: $(PYTHON) is no Python 3.11 or newer with venv; try make PYTHON=python3.13" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	python -m pip install --quiet --editable '.[dev]'
	@touch $@

demo: $(STAMP) ## annotate, expand, execute and compare real programs, and find a planted mistake
	python -m relayout.demo

test: lint types unit lit demo ## run every check

format: $(STAMP) ## format the code and sort the imports
	ruff check --quiet --fix --select I .
	ruff format .

lint: $(STAMP) ## ruff: format and rules
	ruff format --check .
	ruff check .

types: $(STAMP) ## mypy, strict
	mypy

unit: $(STAMP) ## pytest, on all cores (every command of the README included)
	python -m pytest --numprocesses auto

fuzz: $(STAMP) ## a hundred thousand texts of shapes, by our parser and by XLA's
	RELAYOUT_FUZZ=100000 python -m pytest tests/layout/test_parse_fuzz.py

lit: $(STAMP) ## the passes' text tests
	lit --verbose --order smart lit_tests

bench: $(STAMP) ## ratios of speed, each measured in one run
	@for file in benchmarks/*.py; do echo "# $$file"; python -m benchmarks.$$(basename $$file .py) || exit 1; done

campaign: $(STAMP) ## run every pass over every corpus and print a table (about half an hour)
	python -m tests.campaign

check-readme: $(STAMP) ## run the commands of the README
	python -m pytest tests/test_readme.py

clean: ## remove what the targets made
	rm -rf .venv .venv-* .mypy_cache .ruff_cache .pytest_cache .hypothesis build *.egg-info
