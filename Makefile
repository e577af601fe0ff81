# What CI runs is what you run. A second call installs nothing: each stamp is newer than the requirements it stands for.

PYTHON ?= python3
PORT ?= 8501
WORKERS ?= 3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check

.PHONY: run test verify bench lab lint format clean chromium

run: $(VENV)/wiki.stamp
	@$(PY) -c "import socket; socket.create_server(('127.0.0.1', $(PORT))).close()" 2>/dev/null || { \
	  echo "Port $(PORT) is not free on 127.0.0.1. Choose another one: make run PORT=8502" >&2; exit 1; }
	@echo "Fewer Bits, Fewer Calls: http://127.0.0.1:$(PORT) (Ctrl-C stops it)"
	@$(PY) -m streamlit run app.py --server.port=$(PORT)

test: $(VENV)/dev.stamp chromium
	$(PY) -m pytest -n $(WORKERS) --dist worksteal

verify: $(VENV)/wiki.stamp
	$(PY) -m mechanisms.verify

bench: $(VENV)/dev.stamp chromium
	$(PY) -m tests.bench

lab: $(VENV)/lab.stamp
	$(PY) -m gpu_demos.models

lint: $(VENV)/dev.stamp
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/pyright --pythonpath $(PY)

format: $(VENV)/dev.stamp
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

$(VENV)/python.stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed, and $(PYTHON) is not. Name one: make run PYTHON=python3.12" >&2; exit 1; }
	@echo "Making $(VENV) with $$($(PYTHON) --version) (once)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/wiki.stamp: requirements-wiki.txt | $(VENV)/python.stamp
	@echo "Installing requirements-wiki.txt (once)"
	@$(PIP) -r requirements-wiki.txt
	@touch $@

# One after the other, so that two runs of pip never write into one environment under `make -j`.
$(VENV)/lab.stamp: requirements.txt $(VENV)/wiki.stamp
	@echo "Installing requirements.txt (once; torch is large)"
	@$(PIP) -r requirements.txt
	@touch $@

$(VENV)/dev.stamp: requirements-dev.txt $(VENV)/lab.stamp
	@echo "Installing requirements-dev.txt (once)"
	@$(PIP) -r requirements-dev.txt
	@touch $@

# The browser tests fail, and say so, without a Chromium; only its installation needs root, hence no error here.
chromium:
	@if ! command -v chromium-headless-shell >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing Chromium for the browser tests (once)"; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium-headless-shell </dev/null >/dev/null; \
	fi || true
	@for name in chromium-headless-shell chromium chromium-browser google-chrome; do \
	  ! command -v $$name >/dev/null || exit 0; \
	done; echo "No Chromium found: install it with your package manager, or the browser tests will fail." >&2
