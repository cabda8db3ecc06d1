# make demo    trains a network on handwritten digits (all set-up included)
# make test    all tests                              make bench        speed, against other libraries
# make test-at-once     the tests of values again, with small operands computed at their line
# make test-versions    the part of the tests that knows most of Python, NumPy and the other libraries
# make lint    ruff and pyright                       make conformance  the array API's own test suite
# make accuracy  errors of functions, derivatives and sums, to docs/accuracy.md
# make test-reliability  threads, forks, signals, disks, compilers, memory: every trial, to docs/reliability.md
# make fuzz    N=100 SEED=0: N random programs of each kind against NumPy, from any seed
#
# Needs make and Python 3.11 or newer. The virtual environment is made once, in .venv, and reused; VENV=folder names another one.

VENV ?= .venv
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
WORKERS ?= 2
PYTEST_ARGS ?=
N ?= 100
SEED ?= 0

RUN = $(VENV)/bin/python

# what .ci/run repeats with other versions: graphs, executors, jit, protocols and exchange, dispatch, what is installed
VERSION_TESTS = tests/ir/test_text.py $(addprefix tests/interpret/test_, numpy_interp.py immediate.py strided.py) tests/runtime/test_buffer.py tests/runtime/test_cache.py \
	tests/runtime/test_runner.py tests/runtime/test_toolchain.py tests/test_clients.py tests/test_docs.py \
	tests/test_examples.py tests/test_import.py tests/test_packaging.py tests/test_platforms.py tests/test_settings.py \
	tests/interop/test_numpy_dispatch.py \
	$(addprefix tests/array/test_, foreign_arrays.py foreign_memory.py indexing.py promotion.py protocols.py views.py) \
	tests/transforms/test_jit.py \
	$(addprefix tests/functions/test_, errors.py linear_algebra.py mistakes.py numpy_calls.py numpy_dtypes.py numpy_functions.py)

# values and shared memory where small operands are computed at their line, which the other tests turn off
AT_ONCE_TESTS = tests/fuzz tests/interop tests/test_docs.py \
	$(addprefix tests/array/test_, aliasing.py array.py at_once.py indexing.py numbers.py promotion.py threads.py views.py) \
	$(addprefix tests/functions/test_, creation.py elementwise.py movement.py padding.py sorting.py statistical.py writing.py)

.PHONY: demo test test-at-once test-versions test-reliability lint format bench conformance fuzz clean
.DEFAULT_GOAL := test

demo: $(VENV)/.ready-demo
	$(RUN) examples/digits.py

# BLAS gets one thread in each worker: its threads spin while they wait for a core that another worker has.
test: $(VENV)/.ready-test
	OPENBLAS_NUM_THREADS=1 $(RUN) -m pytest -n $(WORKERS) $(PYTEST_ARGS)

test-at-once: $(VENV)/.ready-test
	OPENBLAS_NUM_THREADS=1 UOPC_AT_ONCE=262144 $(RUN) -m pytest -n $(WORKERS) $(AT_ONCE_TESTS) $(PYTEST_ARGS)

test-versions: $(VENV)/.ready-test
	OPENBLAS_NUM_THREADS=1 $(RUN) -m pytest -n $(WORKERS) $(VERSION_TESTS) $(PYTEST_ARGS)

# One worker more than of other tests: trials wait for their children, for clocks and for disks.
test-reliability: $(VENV)/.ready-test
	OPENBLAS_NUM_THREADS=1 $(RUN) -m pytest -n $$(($(WORKERS) + 1)) --dist worksteal tests/reliability \
		--reliability --reliability-page docs/reliability.md $(PYTEST_ARGS)

lint: $(VENV)/.ready-test
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m pyright --pythonpath $(RUN)
	$(RUN) -m pyright --pythonpath $(RUN) --project pyrightconfig.tests.json

format: $(VENV)/.ready-test
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

accuracy: $(VENV)/.ready-test
	$(RUN) -m benchmarks.accuracy

bench: $(VENV)/.ready-bench
	$(RUN) -m benchmarks --all
	$(RUN) -m benchmarks.report

conformance: $(VENV)/.ready-test
	$(RUN) array_api_tests_conf/run.py

fuzz: $(VENV)/.ready-test
	OPENBLAS_NUM_THREADS=1 $(RUN) -m tests.fuzz --programs $(N) --seed $(SEED) --workers $(WORKERS)

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis

# One stamp a set of extras: made anew when what is installed or compiled changes, otherwise nothing is done.
$(VENV)/.ready-%: pyproject.toml setup.py $(wildcard uopc_array/_array/in_c/*) $(VENV)/.created
	$(RUN) -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	@touch $@

$(VENV)/.created:
	@test -n "$(PYTHON)" || { echo "uopc_array needs Python 3.11 or newer; none was found (name one with PYTHON=...)" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

.PRECIOUS: $(VENV)/.ready-%
