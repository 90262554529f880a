# The commands of development. `make` alone lists them.
# PYTHON picks the interpreter; each has its own virtual environment: make test PYTHON=python3.13
PYTHON ?= python3
VENV := $(if $(filter python3,$(PYTHON)),.venv,.venv-$(notdir $(PYTHON)))
STAMP := $(VENV)/.installed

# The tools of the virtual environment come first; nothing here may wait for an accelerator.
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export JAX_PLATFORMS := cpu
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests start thousands of processes; each would compile this program again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test format lint types unit docs fuzz hostile hostile-mutants hostile-kills hostile-proofs hostile-commands lit bench campaign campaign-dumps campaign-proof campaign-reference campaign-verdict scale kernels mutants notebooks check-readme clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-20s %s\n", $$1, $$2}'

setup: $(STAMP) ## make the virtual environment and install everything into it

$(STAMP): pyproject.toml dev-constraints.txt
	@$(PYTHON) -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' || { echo \
	  "error: $(PYTHON) is no Python 3.11 or newer with venv; try make PYTHON=python3.13" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	python -m pip install --quiet --constraint dev-constraints.txt --editable '.[dev,gpu]'
	python -m compileall -q dialect_utils passes relayout
	@touch $@

demo: $(STAMP) ## answer six questions about real programs, ending in one sentence (half a minute)
	python -m docs_site.demo

test: checks unit ## run every check (about a quarter of an hour on two cores)

# Each of them but lit works on one core. The unit tests, on all cores, use the cache that types leaves.
.PHONY: checks
checks: $(STAMP)
	$(MAKE) --jobs 2 --output-sync=target lint types lit demo

format: $(STAMP) ## format the code and sort the imports
	ruff check --quiet --fix --select I .
	ruff format .

lint: $(STAMP) ## ruff: format and rules
	ruff format --check .
	ruff check .

types: $(STAMP) ## mypy, strict
	mypy

# By worksteal each process begins with whole files, whose tests share fixtures and caches.
unit: $(STAMP) ## pytest, on all cores (every command of the README and the tutorials included; TESTS="tests/io" for some)
	python -m pytest --numprocesses auto --dist worksteal $(TESTS)

fuzz: $(STAMP) ## try thousands of inputs for every reader, and a hundred thousand texts of shapes in our parser and in XLA's
	RELAYOUT_FUZZ=100000 python -m pytest tests/layout/text/test_parse_fuzz.py tests/hostile/test_fuzz.py

.PHONY: fuzz-coverage
HOURS ?= 1
TARGETS ?=
fuzz-coverage: $(STAMP) ## fuzz the readers with atheris, guided by coverage (HOURS=1 of CPU time, TARGETS="hlo shapes")
	python -m pip install --quiet --constraint dev-constraints.txt --editable '.[dev,fuzz]'
	python -m tests.fuzzing --hours $(HOURS) $(TARGETS)

hostile: $(STAMP) ## run every command of the table of hostile inputs (about five minutes)
	RELAYOUT_HOSTILE=1 python -m pytest tests/hostile

hostile-mutants: $(STAMP) ## a thousand changed modules that verify: each crash of the worker needs a known reason (five minutes)
	python -m tests.hostile.mutants

hostile-kills: $(STAMP) ## end 30 workers and 36 batches at random moments: no row is lost, no process stays (five minutes)
	python -m tests.hostile.kills

hostile-proofs: $(STAMP) ## measure by how much 200 slow proofs exceed their time limit (five minutes)
	python -m tests.hostile.proofs

.PHONY: hostile-faults
hostile-faults: $(STAMP) ## deliver each fault (signals, full disks, deadlines, crashes) at each step of commands (half an hour)
	python -m tests.relayout.supervisor.faults

N ?= 1000
hostile-commands: $(STAMP) ## run N hostile commands under limits and list what ends badly (about two seconds each)
	python -m tests.hostile.commands --count $(N)

lit: $(STAMP) ## the passes' text tests
	lit --verbose --order smart lit_tests

bench: $(STAMP) ## measure ratios of speed, each in one run, and keep them in docs/performance.md
	python -m benchmarks.ratios --json build/bench.json --docs
	python -m benchmarks.layouts

.PHONY: bench-quick superlinear
superlinear: $(STAMP) ## count calls on 5,000 to 20,000 instructions (make unit counts on hundreds)
	RELAYOUT_SUPERLINEAR=1 python -m pytest tests/test_superlinear.py

bench-quick: $(STAMP) ## the short rows of make bench, once (two minutes)
	python -m benchmarks.ratios --quick

campaign: $(STAMP) ## run every pass over every corpus and print a table (about half an hour)
	python -m tests.campaign

scale: $(STAMP) ## check 500 modules in an S3 server on a Dask cluster, one of three workers killed (two minutes)
	RELAYOUT_SCALE=500 python -m pytest --numprocesses 0 -s tests/relayout/batch/test_cluster.py

kernels: $(STAMP) ## run every dump with Pallas kernels (make unit runs some of them)
	RELAYOUT_KERNELS=all python -m pytest tests/passes/dumps/mosaic

mutants: $(STAMP) ## plant the listed mistakes in the product and run the tests that must notice them (LISTS="layout hlo")
	python -m tests.mutants $(LISTS)

.PHONY: mutants-sample mutants-map
N ?= 60
SEED ?= 0
JOBS ?= 2
mutants-sample: $(STAMP) ## draw one-line mutants of the product at random and print which survive (N=60 SEED=0 JOBS=2)
	python -m tests.mutants.sample $(N) --seed $(SEED) --jobs $(JOBS)

.PHONY: mutants-file
mutants-file: $(STAMP) ## plant every one-line mutant of a file and print which survive (FILE=... TESTS="...")
	python -m tests.mutants.complete $(FILE) --jobs $(JOBS) -- $(TESTS)

mutants-map: $(STAMP) ## measure which tests execute each line, for mutants-sample (ten minutes)
	python -m tests.mutants.coverage_map --jobs $(JOBS)

campaign-reference: $(STAMP) ## ten times the random programs of every operation: definitions against both engines (half an hour)
	python -m tests.campaign_reference

campaign-verdict: $(STAMP) ## plant 1,500 mistakes, make 240 correct rewrites, and print what check says (ten minutes)
	python -m tests.campaign_verdict

campaign-dumps: $(STAMP) ## compile 98 programs for TPUs, run their dumps on the CPU and compare (about ten minutes; needs the tpu extra)
	python -m tests.campaign_dumps

.PHONY: campaign-gpu
campaign-gpu: $(STAMP) ## compile 316 programs for three GPUs with and without Triton, run their dumps on the CPU and compare (long)
	python -m tests.campaign_gpu

.PHONY: sharded-pairs
sharded-pairs: $(STAMP) ## make 320 pairs of a program for one device and the same for several in build/sharded (five minutes)
	python -m tests.corpus.make_sharded

.PHONY: campaign-notations
campaign-notations: $(STAMP) ## ask Triton and CUTLASS about 10,000 layouts in their notations (minutes; installs both)
	python -m pip install --quiet triton nvidia-cutlass-dsl
	python -m tests.campaign_notations

.PHONY: campaign-sharded
campaign-sharded: $(STAMP) ## plant 440 mistakes in the pairs of make sharded-pairs, and judge both by check --sharded (an hour)
	python -m tests.campaign_sharded.planting build/sharded -o build/sharded_bad --count 440
	python -m tests.campaign_sharded build/sharded --mistakes build/sharded_bad

.PHONY: campaign-pairs
campaign-pairs: $(STAMP) ## prove 455 rewrites of an optimizer, and a small change of each that is proved (half an hour; needs the reference data)
	python -m tests.campaign_pairs

.PHONY: campaign-gpu-memory
campaign-gpu-memory: $(STAMP) ## compile 358 programs for five GPUs and compare the report's memory with the compiler's (ten minutes)
	python -m tests.campaign_gpu_memory

.PHONY: campaign-gpu-steps
campaign-gpu-steps: $(STAMP) ## judge each pass of the compilations in build/gpu_dumps, which make_gpu_dumps --passes writes (long)
	python -m tests.campaign_gpu_steps build/gpu_dumps

.PHONY: campaign-explain
campaign-explain: $(STAMP) ## plant 100 mistakes in TPU dumps and count which of them run --explain names (ten minutes)
	python -m tests.campaign_explain

campaign-proof: $(STAMP) ## try 1,500 mutants and attribute flips against proofs, and change every attribute of every operation, and prove rewrites in each type and rank (three minutes)
	python -m tests.campaign_proof
	python -m tests.campaign_labels
	python -m tests.verdict.proof.test_rewrites

.PHONY: campaign-replay
campaign-replay: $(STAMP) ## change 2,000 certificates at random: none may prove what is wrong (two minutes)
	python -m tests.campaign_replay

.PHONY: campaign-forge
campaign-forge: $(STAMP) ## forge 20,000 certificates of programs that differ: none may be accepted (two minutes)
	python -m tests.campaign_forge

.PHONY: campaign-validate
campaign-validate: $(STAMP) ## compile the modules of XLA's tests, judge each against its definition and each step of a compilation (an hour; goes on where it ended)
	python -m tests.campaign_validate --results build/campaign-validate.jsonl

.PHONY: campaign-passes
campaign-passes: $(STAMP) ## run jaxlib's own passes of StableHLO on the programs of a corpus, judge each step and print a table (half an hour)
	python -m tests.campaign_passes

.PHONY: campaign-tune
BUDGET ?= 20
INSIDE ?= 0
JOBS ?= 1
campaign-tune: $(STAMP) ## search layouts for 30 programs with the TPU compiler and write the table of docs/tuning.md (an hour; needs the tpu extra)
	python -m tests.campaign_tune --budget $(BUDGET) --inside $(INSIDE) --jobs $(JOBS) --trials .tune-trials.json

.PHONY: campaign-layouts
campaign-layouts: $(STAMP) ## compare predicted layouts with those in the dumps of every pass in DUMPS, compiled for TARGET (a minute)
	python -m tests.campaign_layouts $(TARGET) $(DUMPS)

.PHONY: campaign-ratio
campaign-ratio: $(STAMP) ## search for the inputs that cost most memory and time for their bytes, and read all corpora (fifteen minutes)
	python -m tests.campaign_ratio
	RELAYOUT_RATIO=1 python -m pytest tests/io/test_cost_of_reading.py

.PHONY: campaign-verifier
campaign-verifier: $(STAMP) ## compare the verifier with XLA's parser and compiler on 2,000 mutated texts (two minutes)
	python -m tests.campaign_verifier

.PHONY: rules
rules: $(STAMP) ## verify every equation of every rule by enumeration or by solvers, and write the table (three minutes)
	python -m pip install --quiet --constraint dev-constraints.txt --editable '.[dev,rules]'
	python -m tests.rules

docs: $(STAMP) ## build the site into build/site; a broken link is an error
	python -m pip install --quiet --constraint dev-constraints.txt --editable '.[dev,docs]'
	NO_MKDOCS_2_WARNING=1 PYTHONPATH=$(CURDIR) python -m mkdocs build --strict  # not quiet: it would count no warnings

notebooks: $(STAMP) ## execute the notebooks again and keep their outputs
	python -m pip install --quiet --constraint dev-constraints.txt --editable '.[dev,notebooks]'
	PYTHONPATH=$(CURDIR) python -m docs_site.notebooks

.PHONY: pictures
pictures: $(STAMP) ## draw the pictures of the README again (the report's needs Chromium)
	PYTHONPATH=$(CURDIR) python -m docs_site.pictures

check-readme: $(STAMP) ## work through the README, the tutorials and the notebooks
	python -m pytest tests/test_readme.py tests/docs_site

clean: ## remove what the targets made
	rm -rf .venv .venv-* .mypy_cache .ruff_cache .pytest_cache .hypothesis build *.egg-info
