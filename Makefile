# One recipe for each thing that people, hooks and CI do. `make help` lists them.
#
# Each is complete on a machine with Python 3.11 or newer (with venv), make and a package index. The virtual
# environment `.venv` is made once; a changed pyproject.toml installs anew. The Python it is made of is PYTHON where
# that is set (`make clean` first to change it), else the first that fits.

.SUFFIXES:
.DELETE_ON_ERROR:
.PHONY: help demo test proof check fix docs bench clean

BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check
TYPED := policies cortex healthcheck examples benchmarks docs

# A virtual environment that was moved with its folder, or whose Python is gone, is none: make it anew.
ifneq "$(shell cat .venv/.made 2>/dev/null && $(BIN)/python -c '' 2>/dev/null)" "$(CURDIR)"
$(shell rm -f .venv/.made)
endif

help: ## say what can be made
	@sed -n 's/^\([a-z]*\):.*## /make \1	/p' Makefile

demo: .venv/.runtime ## see memory-health judge a living memory, and a damaged one
	@$(BIN)/python examples/demo.py

test: check ## everything that must hold before a commit: check, then the suite
	$(BIN)/python -m pytest --quiet

proof: .venv/.dev ## the long counts: fuzzing, races, crash points, big inputs
	@$(BIN)/python -m pytest --quiet -m proof; status=$$?; \
	if [ $$status -eq 5 ]; then echo 'make proof: no test is marked proof, so nothing was proven' >&2; fi; \
	exit $$status

check: .venv/.dev ## lint, format, types and import rules; changes nothing
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --quiet --check .
	$(BIN)/mypy --no-error-summary $(TYPED)
	@$(BIN)/lint-imports > .venv/lint-imports.txt || { cat .venv/lint-imports.txt; exit 1; }

fix: .venv/.dev ## what the linter and the formatter can mend by themselves
	$(BIN)/ruff check --quiet --fix .
	$(BIN)/ruff format --quiet .

docs: .venv/.runtime ## write anew the documents that are made from the code
	$(BIN)/python docs/generate.py

bench: .venv/.runtime ## measure speed and memory; prints the figures that the README quotes
	$(BIN)/python benchmarks/health.py
	$(BIN)/python benchmarks/retrieval.py
	$(BIN)/python benchmarks/writes.py

clean: ## remove the virtual environment and every cache
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp is written last: an environment that was interrupted half-made has none, and is made anew.
.venv/.made:
	@rm -rf .venv; \
	if [ -n "$$PYTHON" ]; then set -- "$$PYTHON"; else set -- python3.13 python3.12 python3.11 python3; fi; \
	lacking=; \
	for python; do \
	  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	  "$$python" -c 'import ensurepip, venv' 2>/dev/null || { lacking=$${lacking:-$$python}; continue; }; \
	  "$$python" -m venv .venv && echo "$(CURDIR)" > .venv/.made && exit 0; \
	  rm -rf .venv; echo "make: $$python could not make the virtual environment .venv" >&2; exit 1; \
	done; \
	if [ -n "$$lacking" ]; then \
	  echo "make: $$lacking has no venv or no ensurepip; on Debian or Ubuntu: apt-get install python3-venv" >&2; \
	else \
	  echo "make: Python 3.11 or newer is needed, and none of these is that: $$*; set PYTHON to one" >&2; \
	fi; \
	exit 1

.venv/.runtime: .venv/.made pyproject.toml
	@$(PIP) --editable .
	@touch $@

.venv/.dev: .venv/.made pyproject.toml
	@$(PIP) --editable '.[dev]'
	@touch .venv/.runtime $@
