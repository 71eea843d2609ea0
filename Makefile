# make          the whole path: set up, release, grade, assemble, conform, train, generate, build the book
# make test     set up and run the tests
# make proof    try the checks themselves at length: many seeds, mutants of the reference, times
# Both need Python >= 3.10 with venv, and nothing else. PYTHON=python3.12 make picks another Python.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TESTABLE := $(VENV)/.testable
GPT2 := build/gpt2.py
RUN := build/training

export OMP_NUM_THREADS ?= 1
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: course setup release grade assemble conform train generate book test proof mutation check-times book-times gpu-check clean

course: setup
	@for step in release grade assemble conform train generate book; do \
		$(MAKE) --no-print-directory $$step || exit 1; \
	done
	@echo
	@echo "Done. Where everything is:"
	@echo "  exercises/            the notebooks to work in; start with exercises/01_architecture"
	@echo "  $(GPT2)         the GPT-2 assembled from the graded reference notebooks"
	@echo "  $(RUN)/       its training: checkpoint, history, loss curve (curve.png)"
	@echo "  autograder/feedback/  the graded reference submission, as a student would get it back"
	@echo "  _build/html/          the book; open _build/html/index.html"
	@echo "To work in the notebooks: $(BIN)/jupyter lab exercises"

setup: $(READY)

$(READY): requirements.txt constraints.txt pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "No $(PYTHON) here. Install Python 3.10 to 3.13, or name yours: PYTHON=/path/to/python make"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' || { echo "$(PYTHON) is $$($(PYTHON) -V); the course needs Python 3.10 to 3.13. Name another: PYTHON=/path/to/python make"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "$(PYTHON) lacks the venv module. On Debian or Ubuntu: apt install python3-venv"; exit 1; }
	@echo "Setting up $(VENV) (once; a few minutes and about 1.5 GB, most of it PyTorch)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt || { echo "The installation stopped: see the message above. Without a network, first install on a machine that has one and copy its wheels (pip download -r requirements.txt -d wheels; then PIP_FIND_LINKS=wheels make)."; exit 1; }
	@touch $@

release: $(READY)
	@echo "== Release: solutions/ -> exercises/"
	@$(BIN)/python -m autograder.grading.release

grade: $(READY)
	@echo "== Grade the reference submission"
	@$(BIN)/python -m autograder.grading.reference

assemble: $(READY)
	@echo "== Assemble gpt2.py"
	@mkdir -p build
	@$(BIN)/autograder assemble autograder/autograded/reference -o $(GPT2)

conform: $(READY)
	@echo "== Compare it with the references"
	@$(BIN)/autograder conform $(GPT2)

train: $(READY)
	@echo "== Train it on tales"
	@$(BIN)/autograder train $(GPT2) --out $(RUN) --overwrite

generate: $(READY)
	@echo "== A sample"
	@$(BIN)/autograder generate $(GPT2) --run $(RUN)

book: $(READY)
	@echo "== Build the book"
	@rm -rf _build
	@$(BIN)/jupyter-book build book/ -W -n --keep-going -q
	@echo "Open $(CURDIR)/_build/html/index.html"

$(TESTABLE): $(READY) requirements-test.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-test.txt || echo "requirements-test.txt cannot be installed here: the tests in a browser will be skipped."
	@touch $@

test: $(TESTABLE)
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadgroup

# The checks themselves, at length: right solutions on 20 seeds, mutants of the reference, times.
proof: $(READY)
	SEEDS=20 $(BIN)/python -m pytest tests/test_checks.py -q -k right_solutions -n auto --maxprocesses 4
	@$(MAKE) --no-print-directory mutation check-times

mutation: $(READY)
	PYTHONPATH=tests $(BIN)/python -m mutation.run

check-times: $(READY)
	@PYTHONPATH=tests $(BIN)/python tests/check_times.py

# A cold build by each command, and the first paint of every page.
book-times: $(TESTABLE)
	@PYTHONPATH=tests $(BIN)/python tests/book_times.py

# On a machine with a GPU: the same file conforms and trains there too.
gpu-check: $(READY)
	@mkdir -p build
	@$(BIN)/autograder assemble solutions -o $(GPT2)
	@$(BIN)/python -m autograder.training.gpu_check $(GPT2)

# What make has made; your notebooks, your gpt2.py and your runs/ stay.
clean:
	rm -rf _build build
