# make demo               install what is needed into .venv and parse a few sentences
# make demo TEXT="…"      the same with a text of yours
# make test               run the tests; ARGS="-k trees" goes to pytest; ARGS="-m slow" runs slow ones
# make dev                install the package and what tests need into .venv
# make pipelines          install the pipelines in packages/ that aren't in .venv yet
# make matrix             install and try the package in every supported surrounding; CELLS=… for some
# make page               a page in the browser where you type text and see what pipelines find;
#                         ARGS="--port 8001" goes to the server
# make test-page          test the page in a real Chromium (Debian: apt-get install chromium)
# make lint               style and types
# make docs               write the tables and pictures of docs anew from docs/training/results.jsonl
# make release            build wheels of the library and of all pipelines in dist/, check and try
#                         them; ARGS="--only en_lal_sm" for some pipelines
# make site               build the documentation as a site, check its links
# make clean              remove .venv
#
# PYTHON=…        Python 3.11, 3.12 or 3.13 to make .venv with (default: the first that is found)
# TORCH=…         what to install as PyTorch: a version, a file or an address
# TORCH_INDEX=…   the package index that PyTorch comes from: that's how one picks a CPU or CUDA build
# PIP_ARGS=…      more options for every `pip install`
# MATRIX=…        the folder of `make matrix` (default: .matrix); TORCH_PIN=… what is torch in its cells
# MODELS=…        the pipelines of `make page` (default: en_lal_md en_lal_ged_md)

VENV := .venv
TORCH := $(shell sed -n '/^torch==/p' constraints.txt)
# A file of tests is one process's: what its tests share is made once.
PARALLEL := -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder
PIPELINES := $(patsubst packages/%/meta.json,%,$(wildcard packages/*/meta.json))
DEV := $(VENV)/.dev

PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --disable-pip-version-check $(PIP_ARGS)

# TEXT reaches the program through the environment, never as part of a command line or a makefile:
# whatever quotes and dollar signs it has mean themselves.
HAS_TEXT := $(filter-out undefined,$(origin TEXT))
export DEMO_TEXT := $(value TEXT)
unexport TEXT

.PHONY: help demo page test dev pipelines test-page matrix lint docs release site clean
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

demo: $(VENV)/.en_lal_sm
	@PYTHONUTF8=1 $(PY) scripts/demo.py $(if $(HAS_TEXT),-- "$$DEMO_TEXT")

# With compiled files: else each of its processes compiles all of spaCy and PyTorch for itself.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(DEV) pipelines
	@$(PY) -m pytest $(PARALLEL) $(ARGS)

dev: $(DEV)

# All in one go, and built with the setuptools that is there: a third of the time.
pipelines: $(DEV)
	@set --; for name in $(PIPELINES); do \
	  [ $(VENV)/.$$name -nt packages/$$name/meta.json ] || set -- "$$@" ./packages/$$name; \
	done; \
	[ $$# = 0 ] || { \
	  echo "Installing $$(echo "$$@" | sed 's|\./packages/||g')"; \
	  $(PIP) -q -c $(VENV)/constraints.txt --no-build-isolation "$$@" && \
	  for path in "$$@"; do touch $(VENV)/.$${path##*/}; done; }

# Gigabytes, and hours: each cell is a virtual environment of its own, in the folder MATRIX.
MATRIX := .matrix
matrix: $(VENV)/bin/pip
	@$(PY) scripts/matrix.py $(MATRIX) $(if $(CELLS),--cells "$(CELLS)") $(if $(TORCH_PIN),--torch "$(TORCH_PIN)")

# The page wants a web server besides; a stamp of its own keeps that apart from what tests need.
page: $(VENV)/.page $(VENV)/.en_lal_md $(VENV)/.en_lal_ged_md
	@PYTHONUTF8=1 $(PY) -m spacy lal serve $(or $(MODELS),en_lal_md en_lal_ged_md) $(ARGS)

test-page: $(DEV) $(VENV)/.page $(VENV)/.en_lal_sm $(VENV)/.en_lal_ged_md
	@$(PY) -m pytest -rs tests/page/browser.py $(ARGS)

lint: $(DEV)
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy

docs: $(DEV) $(VENV)/.en_lal_sm $(VENV)/.en_lal_md
	@$(PY) -m cogapp -I benchmarks -r docs/*.md
	@$(PY) benchmarks/pictures.py

release: $(VENV)/bin/pip
	@$(PIP) install -q -c constraints.txt build twine check-wheel-contents setuptools
	@$(PY) scripts/release.py dist $(ARGS)

# It tells of links that lead nowhere.
site: $(DEV)
	@$(PIP) install -q -c constraints.txt -e ".[site]"
	@$(PY) -m sphinx -q -c docs . site
	@echo site/index.html

clean:
	rm -rf $(VENV)

# A shim called python3.11 may be there without a Python behind it: only a trial tells.
$(VENV)/bin/pip:
	@for python in $(or $(PYTHON),python3.11 python3.12 python3.13 python3 python); do \
	  if "$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12), (3, 13)))' 2>/dev/null; then \
	    echo "Making $(VENV) with $$("$$python" --version)"; \
	    exec "$$python" -m venv $(VENV); \
	  fi; \
	done; \
	echo "No Python 3.11, 3.12 or 3.13 with its venv module found. Install one (Debian, Ubuntu: python3.11 and python3.11-venv), or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3.11" >&2; \
	exit 1

# On its own, so that a build of torch that is already there is taken as it is.
$(VENV)/.torch: constraints.txt | $(VENV)/bin/pip
	@echo "Installing PyTorch"
	@$(PIP) $(if $(TORCH_INDEX),--index-url "$(TORCH_INDEX)") "$(TORCH)"
	@sed '/^torch==/d' constraints.txt > $(VENV)/constraints.txt
	@touch $@

$(VENV)/.package: pyproject.toml $(VENV)/.torch
	@echo "Installing spacy-lal"
	@$(PIP) -c $(VENV)/constraints.txt -e .
	@touch $@

$(VENV)/.%: packages/%/meta.json $(VENV)/.package
	@echo "Installing $*"
	@$(PIP) -c $(VENV)/constraints.txt ./packages/$*
	@touch $@

$(VENV)/.page: $(VENV)/.package
	@echo "Installing what the page needs"
	@$(PIP) -c $(VENV)/constraints.txt -e ".[demo]"
	@touch $@

$(DEV): pyproject.toml $(VENV)/.torch
	@echo "Installing spacy-lal and what tests need"
	@$(PIP) -c $(VENV)/constraints.txt -e ".[dev]"
	@touch $(VENV)/.package $@

packages/en_lal_sm/meta.json:
	@echo "packages/en_lal_sm isn't there; projects/english/README.md says how to train it" >&2
	@exit 1
