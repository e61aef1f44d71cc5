# Every target makes the environment that it needs under build/. On the machine: make, git and Python 3.11 or newer.
# make PYTHON=python3.12 test     another Python
# make ARGS='-k layers' test      arguments for pytest
# make ARGS=--no-browser lab      arguments for JupyterLab
PYTHON ?= python3
ARGS ?=

RUN := build/venv-run/bin/python
DEV := build/venv-dev/bin/python
LAB := build/venv-lab/bin/python
DOCS := build/venv-docs/bin/python
SITE := build/venv-site/bin/python

# what each environment holds besides the package and its dependencies
extras_run :=
extras_dev := [test]
extras_lab := [lab,test]
extras_docs := [docs]
extras_site := [site]

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check docs test-site bench derived lab clean
# settings of the caller's shell that would change what is installed, exported or found
unexport IN_TEST PYTHONHOME PYTHONPATH

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1 /p' Makefile | while read -r name what; do printf 'make %-9s %s\n' "$$name" "$$what"; done

demo: build/venv-run/.done  ## score the agent runs in data/archive and print a table, one row a scenario
	@$(RUN) -m crucible_nb backfill data/archive --scenarios data/scenarios --out build/demo

test: build/venv-dev/.done  ## run all tests, every notebook among them
	@$(DEV) -m pytest -n auto $(ARGS)

check: build/venv-dev/.done  ## export, run and clean the notebooks, lint, test; fails when that changed a file
	$(DEV) -c 'from nbdev.doclinks import nbdev_export; nbdev_export()'
	$(DEV) -c 'from nbdev.test import nbdev_test; nbdev_test(save=True)'
	$(DEV) -c 'from nbdev.clean import nbdev_clean; nbdev_clean()'
	$(DEV) -m ruff format --check nbs tests docs
	$(DEV) -m ruff check nbs tests docs crucible_nb
	$(DEV) -m pytest -n auto $(ARGS)
	@changed=$$(git status --porcelain) || exit 1; \
	if [ -n "$$changed" ]; then printf 'make check: not committed, or changed by this check:\n%s\n' "$$changed" >&2; exit 1; fi

docs: build/venv-docs/.done  ## build the site into _site
	@$(DOCS) docs/build.py

test-site: docs build/venv-site/.done build/axe/.done  ## look at the site in a browser; needs chromium and npm
	@$(SITE) -m pytest tests/site $(ARGS)

bench: build/venv-dev/.done  ## measure how fast runs, variants and reviews are scored
	@$(DEV) tests/bench_fix.py
	@$(DEV) tests/bench_variants.py
	@$(DEV) tests/bench_review.py

derived: build/venv-dev/.done  ## rewrite data/derived from data
	@$(DEV) docs/derived.py

lab: build/venv-lab/.done  ## open the notebooks in JupyterLab
	@$(LAB) -m jupyterlab nbs/index.ipynb $(ARGS)

clean:  ## remove everything that is not part of the project
	rm -rf build _proc _site crucible_nb.egg-info .hypothesis .pytest_cache .ruff_cache
	find . -path ./.git -prune -o \( -name __pycache__ -o -name .ipynb_checkpoints \) -prune -exec rm -rf {} +

build/venv-%/.done: pyproject.toml constraints.txt
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	{ echo 'crucible_nb needs Python 3.11 or newer, $(PYTHON) is not: make PYTHON=python3.12 ...' >&2; exit 1; }
	@echo 'making build/venv-$* (once)'
	@"$(PYTHON)" -m venv --clear build/venv-$*
	@build/venv-$*/bin/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.$(extras_$*)'
	@touch $@

# the checker of accessibility that test-site injects into each page
build/axe/.done: Makefile
	@npm install --silent --no-audit --no-fund --prefix build/axe axe-core@4.14.1
	@touch $@
