# Daily life in a few targets; `make help` lists them. CI runs the same ones (.ci/run).
# A machine needs Python 3.11 or newer, git and make. Everything else is installed here: Python packages and Node into
# .venv, Debian packages when root (otherwise the exact command is printed).

SHELL := /bin/sh
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VENV := .venv
PY := $(VENV)/bin/python
STAMPS := $(VENV)/.outlast
PIP_INSTALL := $(PY) -m pip install --quiet --disable-pip-version-check
INPUTS := pyproject.toml hatch_build.py scripts/venv.sh $(wildcard packages/*/pyproject.toml)
PACKAGES := packages/sandbox packages/demo
CLIENT := packages/client
CODE := src/outlast $(PACKAGES) $(CLIENT) tests scripts bench hatch_build.py

WORKERS ?= 3  # for two cores: many tests wait for real processes
RUN_PACKAGES := bubblewrap
TEST_PACKAGES := bubblewrap podman runc postgresql redis-server chromium fonts-liberation iproute2 iptables faketime nginx-light

.PHONY: help setup setup-dev run test check house deep bench gen docs diagrams pictures format lock clean

help: ## what each target does
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMPS)/run ## everything `make run` needs; safe and quick to repeat
	@sh scripts/debian.sh optional $(RUN_PACKAGES)
	@$(PY) scripts/site.py build & site=$$!; $(PY) scripts/web.py build && wait $$site
	@test -f $(STAMPS)/base || { $(PY) scripts/base_layer.py && touch $(STAMPS)/base; }

setup-dev: setup $(STAMPS)/dev ## what tests and checks need on top
	@$(PY) scripts/web.py tests
	@sh scripts/debian.sh required $(TEST_PACKAGES)

$(PY):
	@sh scripts/venv.sh $(VENV)

$(STAMPS)/run: requirements.lock $(INPUTS) | $(PY)
	@echo "Installing Python packages into $(VENV) ..."
	@$(PIP_INSTALL) --no-deps --require-hashes -r requirements.lock
	@$(PIP_INSTALL) --no-deps --no-build-isolation -e . $(PACKAGES:%=-e ./%)
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/dev: requirements-dev.lock $(STAMPS)/run
	@echo "Installing development packages into $(VENV) ..."
	@$(PIP_INSTALL) --no-deps --require-hashes -r requirements-dev.lock
	@$(PIP_INSTALL) --no-deps --no-build-isolation -e ./$(CLIENT)
	@touch $@

run: setup ## start the server with page: make run [PORT=8400] [ARGS="--data-dir D"]
	@exec $(VENV)/bin/outlast serve $(if $(PORT),--port $(PORT)) $(ARGS)

test: setup-dev check ## all checks, then the whole test suite: make test [ARGS="-k name"]
	$(VENV)/bin/pytest -m "not deep" -n $(WORKERS) --dist worksteal --durations 30 --durations-min 10 $(ARGS)

check: setup $(STAMPS)/dev ## style, types, layers, generated files, figures, web types and web unit tests; starts no server
	$(VENV)/bin/ruff check $(wildcard $(CODE))
	$(VENV)/bin/ruff format --check $(wildcard $(CODE))
	$(VENV)/bin/mypy src/outlast $(PACKAGES:%=%/src) $(CLIENT)/src $(wildcard tests bench scripts/clients scripts/contract)
	$(VENV)/bin/lint-imports
	$(PY) -m scripts.contract --check
	$(PY) -m scripts.clients --check
	$(PY) scripts/rows.py --check
	$(PY) scripts/house.py
	$(PY) scripts/web.py check

house: setup $(STAMPS)/dev ## the figures of the code base and of an idle server, beside their goals
	@$(PY) scripts/house.py $(ARGS)
	@$(PY) scripts/server_figures.py

deep: setup-dev ## the long suites: every crash point, hundreds of random kills, long generated cases
	$(VENV)/bin/pytest --hypothesis-profile deep --timeout 7200 $(ARGS)

bench: setup $(STAMPS)/dev ## Outlast beside a bare event loop and a naive server; prints ratios
	$(PY) -m bench $(ARGS)

gen: $(STAMPS)/run ## write the generated files: rows.py beside the tables, contract/, docs/reference/, the shapes and operations of the clients
	$(PY) scripts/rows.py
	$(PY) -m scripts.contract
	$(PY) -m scripts.clients

docs: gen $(STAMPS)/dev ## regenerate the reference, build the site that the server shows at /docs, check what the docs name
	$(PY) scripts/site.py build
	$(VENV)/bin/pytest -q tests/contract/test_repository.py tests/contract/test_docs.py

diagrams: $(STAMPS)/dev ## draw the diagrams of docs/ that changed
	$(PY) scripts/diagrams.py

pictures: $(STAMPS)/run $(STAMPS)/dev ## take the pictures in the README, with the demo on a server of its own
	$(PY) scripts/pictures.py

format: $(STAMPS)/dev ## sort imports and lay out the code
	$(VENV)/bin/ruff check --fix-only --quiet $(wildcard $(CODE))
	$(VENV)/bin/ruff format $(wildcard $(CODE))

lock: $(STAMPS)/run ## after a change of dependencies in pyproject.toml: make lock [UPGRADE=--upgrade]
	@$(PIP_INSTALL) uv
	@sh scripts/lock.sh $(PY) $(UPGRADE)

clean: ## remove what was built here, but no data
	rm -rf $(VENV) src/outlast/_web src/outlast/_docs web/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis
