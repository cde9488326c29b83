# Every target works on a fresh clone with nothing but make and Python 3.11 or newer: it first makes .venv
# and installs what it needs there. A stamp file per set of extras says what is installed already.

PYTHON ?= python3
VENV ?= .venv
WORKERS ?= auto
PIP_ARGS ?=
SEED ?= 0
TESTS ?= tests
# A version of jax to install in place of the newest that pip finds for this Python; and a Python for the newest.
JAX ?=
NEWEST ?= python3.13

# Many tests start Python: modules that are compiled once spare each of them a second.
unexport PYTHONDONTWRITEBYTECODE

BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help check demo mlp cnn optax test versions shuffle hazards hazards-sample compat sweep shapes fuzz walk programs lint format bench clean

help:
	@echo "make demo     train a small GPT on the source of Python's standard library (about 2 minutes)"
	@echo "make mlp      a perceptron on scikit-learn's digits;  make cnn  a small convolutional network"
	@echo "make optax    a module trained by JAX's optax"
	@echo "make check    style, structure, stubs and the tests of what most changes touch, in some minutes"
	@echo "make test     run the tests (no PyTorch needed);  make lint  check the style"
	@echo "make versions run some of them on the oldest and on the newest jax there may be (NEWEST=python3.13)"
	@echo "make hazards-sample  a few minutes of what make hazards does"
	@echo "make hazards  interrupts, signals, finalizers, threads and failed runs (hours; ARGS=--seed=1)"
	@echo "make shuffle  run them in a random order, with nothing compiled before (SEED=... repeats an order)"
	@echo "make compat   run the tests that hold jaxflow against real PyTorch (installs PyTorch)"
	@echo "make sweep    hold every operator of PyTorch's table against PyTorch: all dtypes (ARGS=--help says more)"
	@echo "make shapes   the same table over shapes A, B, C, A and D in each executor"
	@echo "make fuzz     random programs over all operators on both libraries (10,000 of them; ARGS=--seed=1)"
	@echo "make walk     every operator's samples, each changed in one way (ARGS=sizes; numbers, dtypes, outs, ...)"
	@echo "make programs run other people's programs on PyTorch and on jaxflow, unmodified (ARGS=names; --write)"
	@echo "make bench    time jaxflow beside PyTorch and hand-written JAX (installs PyTorch)"

demo: $(STAMP)-demo
	$(BIN)/python examples/char_gpt.py $(ARGS)

mlp: $(STAMP)-demo
	$(BIN)/python examples/mlp_digits.py $(ARGS)

cnn: $(STAMP)-demo
	$(BIN)/python examples/cnn.py $(ARGS)

optax: $(STAMP)-demo
	$(BIN)/python examples/optax_mlp.py $(ARGS)

test: $(STAMP)-test
	$(BIN)/python -m pytest -n $(WORKERS) --ignore=tests/hazards $(TESTS) $(ARGS)

# What one looks at after every change; the rest is for `make test`.
check: TESTS := tests/test_structure.py tests/test_state.py tests/test_stubs.py tests/test_docs.py tests/test_forms.py \
    tests/test_programs.py tests/test_executors.py tests/test_promotion.py tests/test_inplace_nodes.py \
    tests/test_geometry.py tests/test_rows.py tests/test_overrides.py
check: lint test

# The files that use most of what jax does not promise; TESTS=tests runs all of them.
versions: TESTS := tests/interpreter/test_primitives.py tests/interpreter/test_lowering.py tests/test_traced.py \
    tests/test_func.py tests/test_interop.py tests/compiler/test_runs.py
versions:
	$(MAKE) test VENV=.venv-oldest JAX=0.10.1 TESTS="$(TESTS)"
	$(MAKE) test VENV=.venv-newest PYTHON=$(NEWEST) TESTS="$(TESTS)"

# What interrupts a process runs in processes of its own.
hazards-sample: $(STAMP)-test
	$(BIN)/python -m pytest -n $(WORKERS) tests/hazards $(ARGS)

# Each harness and mode is a process of its own, two at a time. Results so far are kept in out/hazards and not
# computed again; delete that folder to begin anew.
HAZARDS := interrupts-eager interrupts-deferred interrupts-compiled interrupts-compile signals-eager \
    signals-deferred signals-compiled signals-compile finalizers-eager finalizers-deferred \
    finalizers-compiled finalizers-compile threads-eager threads-deferred threads-compiled threads-compile \
    failures-eager failures-deferred failures-compiled stateful-deferred stateful-compiled

hazards: $(STAMP)-test
	@mkdir -p out/hazards
	$(MAKE) --keep-going -j2 $(HAZARDS:%=hazards-%)

# How many points of each scenario, where all of them would take longer than two hours.
hazards-interrupts-compiled: COUNT := --count=2000
hazards-interrupts-compile: COUNT := --count=1500
hazards-finalizers-%: COUNT := --count=500
hazards-%:
	$(BIN)/python -m tests.hazards $(word 1,$(subst -, ,$*)) --mode $(word 2,$(subst -, ,$*)) $(COUNT) \
	    --resume out/hazards/$*.jsonl $(ARGS)

shuffle: $(STAMP)-test
	cache=$$(mktemp -d) && trap 'rm -rf "$$cache"' EXIT && \
	    JAXFLOW_CACHE_DIR="$$cache" $(BIN)/python -m pytest -n $(WORKERS) --shuffle $(SEED) --ignore=tests/hazards tests $(ARGS)

compat: $(STAMP)-test $(STAMP)-compat
	$(BIN)/python -m pytest -n $(WORKERS) compat_tests $(ARGS)

sweep: $(STAMP)-test $(STAMP)-compat
	$(BIN)/python -m compat_tests.ops $(ARGS)

shapes: $(STAMP)-test $(STAMP)-compat
	$(BIN)/python -m compat_tests.ops.shapes $(ARGS)

walk: $(STAMP)-test $(STAMP)-compat
	$(BIN)/python -m compat_tests.fuzz.walks $(ARGS)

# Most are interpreted, one in ten goes through XLA. A run that was broken off goes on where it was.
fuzz: $(STAMP)-test $(STAMP)-compat
	$(BIN)/python -m compat_tests.fuzz --mode mixed --count 10000 --ledger $(ARGS)

programs: $(STAMP)-test $(STAMP)-compat $(STAMP)-demo
	$(BIN)/python -m compat_tests.programs $(ARGS)

lint: $(STAMP)-test
	$(BIN)/ruff check .

format: $(STAMP)-test
	$(BIN)/ruff check --fix .

bench: $(STAMP)-demo $(STAMP)-bench $(STAMP)-compat
	$(BIN)/python -m benchmarks $(ARGS)

clean:
	rm -rf $(VENV) .venv-oldest .venv-newest .cache out

$(STAMP)-%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_ARGS) --editable ".[$*]" $(if $(JAX),jax==$(JAX) jaxlib==$(JAX))
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "jaxflow needs Python 3.11 or newer; say which with: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
