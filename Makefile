# Two commands are enough: `make serve` and `make test`.  Both make .venv when it is missing or out of date.
# For those who change the code: `make lint`, `make fix`, `make bench`, and `make outside`, which compares with other
# people's implementations and installs them first.
#
# PORT=5006     where `make serve` listens
# PYTHON=...    which Python to use; the first one of at least 3.11 if not given
# TORCH=yes|no  with or without torch, which no page needs.  If not given, `make serve` leaves it out where it would
#               bring gigabytes of CUDA libraries to a machine without an NVIDIA card.  Tests always need it.

PORT ?= 5006
TORCH ?= auto
PYTHON ?=
BIN := .venv/bin
PIP := $(BIN)/python -m pip
FROM := pyproject.toml constraints.txt

.PHONY: serve test outside lint fix bench clean

serve: .venv/serve-$(TORCH).stamp
	@PATH="$(CURDIR)/$(BIN):$$PATH" PORT=$(PORT) ADDRESS=localhost BOKEH_PY_LOG_LEVEL=warning \
	  EXPLORER_SAY="Linear Attention Explorer: http://localhost:$(PORT)/   (Ctrl-C ends it)" \
	  sh -c "$$(sed -n 's/^web: *//p' Procfile)"

test: .venv/test.stamp
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not ui and not outside"
	$(BIN)/python -m pytest -m "ui and not outside"

outside: .venv/outside.stamp
	$(BIN)/python -m pytest -n auto --dist loadfile -m "outside and not ui"
	$(BIN)/python -m pytest -m "outside and ui"

lint: .venv/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

fix: .venv/test.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python -m app.tables

bench: .venv/test.stamp
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv

.venv/python.stamp:
	@for python in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11 python); do \
	  if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    $$python -m venv --clear .venv && touch $@; exit; \
	  fi; \
	done; \
	echo "Python 3.11 or newer is needed, and none was found. Install one, or name it: make PYTHON=/path/to/python3" >&2; exit 1

# Who asked for torch, has it already, or has the card for it, gets it.  Else pip is asked what it would bring along.
NEEDS := import tomllib; print(*(need for need in tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"] if not need.startswith("torch")))
.venv/serve-$(TORCH).stamp: $(FROM) | .venv/python.stamp
	@echo "Setting up .venv. README.md says how much is downloaded the first time."
	@torch=$(TORCH); \
	if [ $$torch = auto ] && ! command -v nvidia-smi >/dev/null && ! $(BIN)/python -c 'import torch' 2>/dev/null; then \
	  $(PIP) install -q -c constraints.txt pip || exit; \
	  plan=$$($(PIP) install -q --dry-run --report - -c constraints.txt torch) || torch=no; \
	  case $$plan in *'"name": "nvidia-'*) torch=no;; esac; \
	fi; \
	if [ $$torch = no ]; then \
	  $(PIP) install -c constraints.txt $$($(BIN)/python -c '$(NEEDS)') && $(PIP) install -q --no-deps -e . && \
	  echo "torch is left out: no NVIDIA card was seen here, or pip has no torch for this Python." && \
	  echo "Every page works without it; make serve TORCH=yes installs it."; \
	else $(PIP) install -c constraints.txt -e .; fi
	@touch $@

.venv/test.stamp: $(FROM) | .venv/python.stamp
	@echo "Setting up .venv. README.md says how much is downloaded the first time."
	$(PIP) install -c constraints.txt -e '.[test]'
	@touch $@ .venv/serve-auto.stamp .venv/serve-yes.stamp

.venv/outside.stamp: .venv/test.stamp
	$(PIP) install -c constraints.txt -e '.[test,outside]'
	@touch $@
