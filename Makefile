# Two commands on a fresh machine with Python 3.11+, git and make:
#   make run    creates the environment, installs, runs the main scenario on the embedded engine
#   make test   lint, types, tests
# And `make test-engine`: agents on a real vLLM, its CPU build, in an environment of its own.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' && echo $$p && break; done)
VENV ?= .venv
ENGINE_VENV ?= $(CURDIR)/.venv-engine
export ENGINE_VENV
# or each process that the tests start, and each run of them, would compile all anew
unexport PYTHONDONTWRITEBYTECODE
BIN := $(VENV)/bin
SCENARIO ?= scenarios/32_agents.yaml

# uv installs in a fifth of the time; where it cannot (an index that only pip is told of), pip does it
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
define fetch
	$(PIP) install --require-hashes -r requirements-uv.lock && $(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r $(1) \
	|| $(PIP) install --require-hashes -r $(1)
endef

.PHONY: run smoke test test-engine test-all engine lint types install dev lock clean bench bench-peers clients test-strangers

run: install
	$(BIN)/sim run $(SCENARIO)

smoke: install
	$(BIN)/sim run scenarios/8_agents_smoke.yaml

# Three keep two cores busy: of a test of whole runs half is waiting for servers, windows and the ends of processes.
TEST_PROCS ?= 3

test: dev lint types
	$(BIN)/python -m pytest -n $(TEST_PROCS) --dist loadfile --no-loadscope-reorder

test-engine: engine
	$(BIN)/python -m pytest -m engine -rs tests/engine/real

# The real engine first and alone, as it takes all cores; whichever fails ends it with the test runner's own line.
test-all:
	$(MAKE) --no-print-directory test-engine
	$(MAKE) --no-print-directory test

# Never fails: where the engine cannot be installed its tests are skipped, with the reason.
engine: dev
	$(BIN)/python tests/engine/real/engine_env.py $(ENGINE_VENV)

lint: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check simulator tests repos

types: dev
	$(BIN)/mypy

install: $(VENV)/.installed
dev: $(VENV)/.dev

$(VENV)/.installed: pyproject.toml requirements.lock requirements-uv.lock
	@test -n "$(PYTHON)" || { echo "make: Python 3.11 or newer is needed; install it or say make PYTHON=/path/to/python3"; exit 2; }
	@# without pip it is what was left by a python that cannot make one, which then says why once more
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(VENV)
	$(call fetch,requirements.lock)
	$(PIP) install --no-deps --no-build-isolation --editable .
	@# compiled once here; where PYTHONDONTWRITEBYTECODE is set, each process of each command would do it again
	$(BIN)/python -m compileall -q simulator
	$(BIN)/python -c "import simulator.cli.run, simulator.engine.embedded.server, simulator.view.live, docx, openpyxl, pypdf; \
		from simulator.tasks import catalog; list(map(catalog.load, catalog.templates()))"
	touch $@

$(VENV)/.dev: $(VENV)/.installed requirements-dev.lock
	$(call fetch,requirements-dev.lock)
	touch $@

# Our client against a server whose times are known; with the peers that `make bench-peers` has installed, if any.
BENCH_PEERS ?= $(CURDIR)/.bench
PEERS := servebench guidellm aiperf
export BENCH_PEERS

bench: dev
	PYTHONPATH=$(CURDIR) $(BIN)/python tests/bench/bench.py --peers --out docs/bench_figures.md

bench-peers: dev
	for peer in $(PEERS); do \
		test -x $(BENCH_PEERS)/$$peer/bin/python || $(PYTHON) -m venv $(BENCH_PEERS)/$$peer || exit 1; \
		$(BENCH_PEERS)/$$peer/bin/python -m pip install --quiet --disable-pip-version-check $$peer \
		|| echo "$$peer could not be installed; the bench goes on without it"; \
	done
	@test -x $(BENCH_PEERS)/vllm/bin/vllm || echo "vllm is used when $(BENCH_PEERS)/vllm/bin/vllm is there"

# The published agents that tests record and replay (docs/record.md); needs npm.
CLIENTS ?= $(CURDIR)/.clients
export CLIENTS

clients:
	npm install --no-audit --no-fund --silent --prefix $(CLIENTS)/cline2 cline@2
	npm install --no-audit --no-fund --silent --prefix $(CLIENTS)/cline3 cline@3

# Other load generators drive the embedded engine and must agree with its counters.
test-strangers: bench-peers
	$(BIN)/python -m pytest tests/engine/test_strangers.py -v

# Needs `uv`. Versions for every platform and Python from 3.11 on, with hashes and without index addresses.
lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command "make lock" pyproject.toml -o requirements.lock
	echo uv | uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command "make lock" - -o requirements-uv.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command "make lock" --group dev -c requirements.lock -o requirements-dev.lock

clean:
	rm -rf $(VENV) $(CURDIR)/.venv-engine build *.egg-info .pytest_cache .mypy_cache .ruff_cache
