# `make demo` and `make test` set up everything they need in .venv, from nothing.
PYTHON ?= python3
BIN := .venv/bin
DATA ?= ../shared/data
CXX_SOURCES := $(shell find src tests -name "*.cpp" -o -name "*.h")
# The editable install knows modules by name: it is made anew where one is added or moved.
MODULES := .venv/modules-$(shell find src -name "*.py" | sort | cksum | cut -d" " -f1)
SOURCES := pyproject.toml CMakeLists.txt $(MODULES) $(filter src/%,$(CXX_SOURCES))

.PHONY: help demo chromium test test-other-cpu test-long fuzz mutants lint docs wheel bench bench-network experiments report clean

help:
	@echo "make demo          train on the bundled sample, tag and explain a sentence"
	@echo "make test          every check: lint, types, import contract, tests"
	@echo "make test-other-cpu  the tests of numbers as another CPU would run them"
	@echo "make test-long     try to destroy model files and to run out of memory: kills, 100,000 mutations, 1,000 bombs; an hour"
	@echo "make fuzz          random bytes for every reader, RUNS=100000 times (SEED=0; FUZZ='--engine atheris --target conll')"
	@echo "make mutants       change a formula, N=200 times: does a test fail? (SEED=0, KIND=cpp for kernels)"
	@echo "make lint          ruff, clang-format, mypy --strict, import-linter"
	@echo "make docs          the documentation as HTML, build/docs/html; no warning is let pass (LINKS=all follows links to other sites)"
	@echo "make wheel         a wheel with the documentation in it, in dist"
	@echo "make bench         corate and its peers in one run, half an hour; rewrites docs/benchmark.md and .svg (DATA=$(DATA))"
	@echo "make bench-network networks of tables beside pgmpy and scikit-learn, ten minutes"
	@echo "make report        all experiments as one page, build/report/report.html (DATA=$(DATA); REPORT=--quick for a short run, --all for hours)"
	@echo "make experiments   the papers' tables, published beside ours (DATA=$(DATA))"
	@echo "make clean         remove .venv, build folders and caches"

$(MODULES):
	@mkdir -p .venv && rm -f .venv/modules-* && touch $@

PIP := $(BIN)/pip install --quiet --disable-pip-version-check
# The tools of the build stay in .venv, so that only what has changed is compiled again.
BUILD := 'scikit-build-core>=0.11' 'nanobind>=2.4' 'cmake>=3.20' ninja

.venv/build: pyproject.toml
	$(PYTHON) -m venv .venv
	$(PIP) $(BUILD)
	@touch $@

.venv/demo: $(SOURCES) .venv/build
	$(PIP) --no-build-isolation --editable .
	@touch $@

.venv/dev: $(SOURCES) .venv/build
	$(PIP) --no-build-isolation --editable '.[dev]'
	@touch .venv/demo $@

demo: .venv/demo
	$(BIN)/corate demo

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CXX_SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports

# Tests of the page run in the system's own browser.
chromium:
	@command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq chromium; } \
	  || { echo "make test needs the browser chromium: install it" >&2; exit 2; }

test: lint chromium
	$(BIN)/python -c "from corate._native import HAS_KERNELS; assert HAS_KERNELS, 'the compiled kernels were not built'"
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest

# Warnings are errors, among them links that lead nowhere. Links to other sites need the network: LINKS=all.
docs: .venv/dev
	$(BIN)/python -c "from tools.wheel import build_docs; build_docs()"
	$(if $(filter all,$(LINKS)),$(BIN)/python -m sphinx -q -b linkcheck docs build/docs/links)
	@echo "build/docs/html/index.html"

wheel: .venv/dev
	$(BIN)/python -m tools.wheel

N ?= 200
SEED ?= 0
KIND ?= python
mutants: .venv/dev
	$(BIN)/python -m tools.mutate -n $(N) --seed $(SEED) --kind $(KIND)

# The tests of numbers once more, with the sums of another BLAS and the loops of another NumPy.
test-other-cpu: .venv/dev
	OPENBLAS_CORETYPE=Prescott OPENBLAS_NUM_THREADS=1 NPY_DISABLE_CPU_FEATURES="$$($(BIN)/python tools/cpu_features.py)" \
	  $(BIN)/python -m pytest tests/models tests/lattice tests/evaluation

test-long: .venv/dev
	$(BIN)/python -m pytest -m long -rP

RUNS ?= 100000
fuzz: .venv/dev
	$(BIN)/python tools/fuzz.py -n $(RUNS) --seed $(SEED) $(FUZZ)

bench:
	@test -d $(DATA)/brown || { echo "$(DATA)/brown: no such folder: give DATA=…, see docs/installing.md" >&2; exit 2; }
	@$(MAKE) --no-print-directory .venv/dev
	$(BIN)/python -m benchmarks.tagging --data $(DATA) $(BENCH)

bench-network: .venv/dev
	$(PIP) --no-build-isolation --editable '.[network-peers]'
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.network $(BENCH)

report:
	@test -d $(DATA)/brown || { echo "$(DATA)/brown: no such folder: give DATA=…, see docs/installing.md" >&2; exit 2; }
	@$(MAKE) --no-print-directory .venv/dev
	$(BIN)/python -m experiments.report --data $(DATA) $(REPORT)

experiments: .venv/dev
	for script in claims theorem label_bias test_time_problem parameterizations graphs pos pos_order ner ner_longer; do $(BIN)/python -m experiments.$$script --data $(DATA) || exit 1; done

clean:
	rm -rf .venv build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
