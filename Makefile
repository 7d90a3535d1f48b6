# rocketdiff: `make` lists what there is. Needs only make and Python 3.11 or later; everything else goes into .venv and the cache folder.

.DEFAULT_GOAL := help
SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Bytecode is kept in folders that `make clean` removes. Without it each process of a run compiles what it imports: 10 s of a run of
# suite quick (98 s, 88 s with it).
unexport PYTHONDONTWRITEBYTECODE

# The first Python that is new enough; `make PYTHON=…` names another.
SUITABLE := 'import sys; sys.exit(sys.version_info < (3, 11))'
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	if command -v $$p >/dev/null 2>&1 && $$p -c $(SUITABLE) 2>/dev/null; then echo $$p; break; fi; done)

ARGS ?=
TESTS ?= tests

# Processes that run tests: one more than two cores can serve, since servers are waited for; each keeps servers of its own, which
# cost a tenth of a core while they do nothing.
WORKERS ?= 3

.PHONY: help setup run doctor image test tests clients lint lint-to-a-file format hooks bench calibrate sensitivity planted mutants fuzz-inputs lock relock wheel release clean faithful

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo "  ARGS='…' passes options, as in: make run ARGS='--suite full'; TESTS='tests/core' selects tests, WORKERS=6 suits six cores"

setup: $(READY) ## Set up .venv from requirements.lock (done by the others when needed)

run: $(READY) ## Compare the Java client with the Python reference on brokers that are paused; report in reports/
	@$(BIN)/rocketdiff run --out reports $(ARGS)

doctor: $(READY) ## List what this machine has, what is missing and how to get it
	@$(BIN)/rocketdiff doctor $(ARGS)

image: $(READY) ## Make the image for --cluster containers; ARGS names releases of servers
	@[ -n "$$ROCKETDIFF_BASE_IMAGE" ] || docker/base.sh >/dev/null
	@$(BIN)/python -m rocketdiff.cluster.containers.images $(ARGS)

test: $(READY) ## Run all tests and, in parallel, the linters; lint results are printed at the end
	@$(MAKE) --no-print-directory --keep-going -j2 lint-to-a-file tests; failed=$$?; cat $(VENV)/lint; exit $$failed

# Tests that call make themselves are no part of this one's jobs.
tests: $(READY)
	@env -u MAKEFLAGS $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup $(TESTS) $(ARGS)

lint-to-a-file: $(READY)
	@$(MAKE) --no-print-directory lint >$(VENV)/lint 2>&1 && echo 'make lint: all clean' >$(VENV)/lint

clients: $(READY) ## Build and check every client of another language and its skeleton, the Rust clients too (minutes the first time)
	@ROCKETDIFF_BUILD_CLIENTS=1 $(BIN)/python -m pytest -k 'another_language or skeleton or speaks_grpc' tests/run/test_subject_check.py tests/whole/test_grpc_clients_live.py $(ARGS)

lint: $(READY) ## ruff, mypy, the import arrows of ARCHITECTURE.md, the shipped ledgers and the subjects of commits
	@failed=0; \
	$(BIN)/ruff check . || failed=1; \
	$(BIN)/ruff format --check . || failed=1; \
	$(BIN)/mypy || failed=1; \
	$(BIN)/lint-imports --no-cache || failed=1; \
	$(BIN)/python -m rocketdiff ledger lint || failed=1; \
	$(BIN)/python .ci/commit_subjects.py || failed=1; \
	exit $$failed

format: $(READY) ## Let ruff rewrite what it can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

hooks: ## Have git check the subject of each commit of this clone
	@git config core.hooksPath .githooks

bench: $(READY) ## Measure cluster start, sends per second of each client, and the speed of simulation and judging
	@$(BIN)/python -m maintenance.bench $(ARGS)

faithful: $(READY) ## Judge random scenarios of clients beside themselves: any divergence is a false alarm; ARGS="--role consumer"
	@$(BIN)/python -m maintenance.faithful $(ARGS)

calibrate: $(READY) ## Measure the false alarms of the gate: 320 control cases (about an hour; resumes), into fixtures; ARGS="--role consumer"
	@$(BIN)/rocketdiff calibrate --write fixtures $(ARGS)

sensitivity: $(READY) ## Measure which defective clients the suites quick and full find, into fixtures/sensitivity.json
	@$(BIN)/python -m maintenance.sensitivity --write fixtures/sensitivity.json $(ARGS)

planted: $(READY) ## Check that the record finds 80 regressions planted in 2,000 runs, and no other, and those of a line of 10,000; ARGS=--standalone
	@$(BIN)/python -m maintenance.planted $(ARGS)
	@$(BIN)/python -m maintenance.planted.many --runs 10000 --line 10000 --to-conclude 100

mutants: $(READY) ## Make every small change to the rules and the judging code, and check that a test notices it
	@$(BIN)/python -m maintenance.mutants $(ARGS)

fuzz-inputs: $(READY) ## Read thousands of damaged and hostile documents: each is accepted or refused in one sentence
	@$(BIN)/python -m maintenance.hostile $(ARGS)

lock: $(READY) ## Renew requirements.lock (maintainers; network)
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
		--all-extras --group dev --custom-compile-command 'make lock' --output-file requirements.lock $(ARGS) pyproject.toml

relock: $(READY) ## Renew the lock of RocketMQ's artifacts (maintainers; network, Maven)
	@$(BIN)/python -m rocketdiff.releases.artifacts.relock $(ARGS)

wheel: $(READY) ## Build dist/*.whl
	@$(BIN)/python -m build --no-isolation --wheel $(ARGS)

release: $(READY) ## Commit and tag a version, build its wheel and checksum; pushes nothing: make release VERSION=0.2.0
	@$(BIN)/python -m maintenance.release "$(VERSION)"

clean: ## Remove .venv and everything generated here, but neither reports nor the cache folder
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet --progress-bar off
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes

# uv takes three fifths of pip's processor time. Where it does not reach the registry that pip is set to, pip does it all.
# pyspark, the largest, is a source distribution: it is packed without compressing its jars again, and meanwhile, when all else is
# there, the jars of the default run are fetched; what fails there the run does again, and explains.
# The stamp is written last: an installation that broke off is taken up again, and a finished one needs no network.
$(READY): requirements.lock pyproject.toml
	@if [ -z "$(PYTHON)" ] || ! $(PYTHON) -c $(SUITABLE) 2>/dev/null; then \
		echo "rocketdiff needs Python 3.11 or later; seen: $$($(or $(PYTHON),python3) --version 2>/dev/null || echo none). Install it (Debian 12, Ubuntu 24.04:" \
			"apt-get install python3 python3-venv) or name it: make PYTHON=/path/to/python3.12" >&2; exit 69; fi
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$(PYTHON) lacks the venv module that .venv is made with. Debian, Ubuntu: apt-get install python3-venv" >&2; exit 69; }
	@echo "setting up $(VENV) from requirements.lock: some 1.5 GB on disk, one to five minutes the first time" >&2
	@rm -f $@
	@$(PYTHON) -m venv $(VENV)
	@awk '/^uv==/ { own = 1 } own { print } !/\\$$/ { own = 0 }' requirements.lock >$(VENV)/installer.txt
	@awk '/^pyspark==/ { own = 1 } !own { print } !/\\$$/ { own = 0 }' requirements.lock >$(VENV)/others.txt
	@printf '[bdist_wheel]\ncompression = stored\n' >$(VENV)/build.cfg
	@export DIST_EXTRA_CONFIG="$(CURDIR)/$(VENV)/build.cfg"; \
		$(PIP) --require-hashes -r $(VENV)/installer.txt && $(UV) -r $(VENV)/others.txt 2>$(VENV)/installer.log && { \
		PYTHONPATH=harness:reference_impl $(BIN)/python -m rocketdiff.run.fetch_ahead >$(VENV)/fetched.log 2>&1 & \
		$(UV) -r requirements.lock 2>>$(VENV)/installer.log; installed=$$?; wait; [ $$installed = 0 ]; } || $(PIP) --require-hashes -r requirements.lock
	@$(PIP) --no-index --no-deps --no-build-isolation --editable .
	@touch $@
