# Two commands for everyone:    make study    make test
# Two more for developers:      make check    make docs
# See CONTRIBUTING.md. Nothing outside this folder is touched; `make clean` undoes everything.

PYTHON ?= python3
export PYTHON

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
INSTALL = $(PIP) install --no-compile $(1)
LIST = --requirement $(VENV)/requirements.txt
REQUIREMENTS = $(BIN)/python tools/list_requirements.py $(1) > $(VENV)/requirements.txt
# The core is built with the environment's own CMake and Ninja: one preset, and its tests. Ninja cannot share
# a jobserver of make's that its rule was not given.
BUILD_CORE = unset MAKEFLAGS; export PATH="$(CURDIR)/$(BIN):$$PATH"; cd core; \
    cmake --preset $(1) --log-level=WARNING && cmake --build --preset $(1)
CORE = $(BUILD_CORE) && ctest --preset $(1)
SANITIZED_PYTHON = @BIN="$(CURDIR)/$(BIN)" sh tools/sanitized_python.sh $(1) $(if $(ARGS),$(ARGS),--short)

# What the installed package is made of.
SOURCES := pyproject.toml CMakeLists.txt \
    $(shell find core bindings src -type f -not -path '*/build/*' -not -path '*/__pycache__/*')
CPP := $(shell find core bindings -type f \( -name '*.h' -o -name '*.inc' -o -name '*.cc' -o -name '*.cpp' \) \
    -not -path '*/build/*')
PY := src tests tools docs benchmarks examples

# Tests of one file stay in one process and share its fixtures; ARGS="-n 0" runs all in this one.
# Each process is one of several, so the numeric libraries' own threads would only get in the way.
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n logical --maxprocesses 4 --dist loadfile

OFFLINE := { echo "arboleda: the step above failed; its last lines say why (with no network, \
	pip cannot fetch what the package needs)." >&2; exit 1; }

.PHONY: study test test-slow check format lint layers words types core-tests docs sanitizers \
    sanitizers-slow same-bits portable fuzz fuzz-million fuzz-studies clean preflight doctest
.DELETE_ON_ERROR:

study: $(VENV)/.study
	@$(BIN)/arboleda study breast_cancer --target target $(ARGS)

test: $(VENV)/.dev
	@$(PYTEST) $(ARGS)

test-slow: $(VENV)/.dev
	@$(BIN)/python -m pytest -m slow --timeout 1800 $(ARGS)

# `make -k check` goes on after a failure and shows all of them.
check: format lint layers words types core-tests

format: $(VENV)/.dev
	$(BIN)/ruff format --check $(PY)
	$(BIN)/clang-format --dry-run -Werror $(CPP)

lint: $(VENV)/.dev
	$(BIN)/ruff check $(PY)

layers: $(VENV)/.dev
	$(BIN)/python tools/check_layers.py
	$(BIN)/python tools/check_places.py

words: $(VENV)/.dev
	$(BIN)/python tools/check_words.py
	$(BIN)/python tools/report_names.py

# The installed package is checked, because it holds the generated types of the compiled module.
types: $(VENV)/.dev
	$(BIN)/python -m mypy

core-tests: $(VENV)/.dev doctest
	$(call CORE,dev)

# The core's own tests, then Python's tests of the compiled module, under sanitizers; in short, or all. In
# short, ThreadSanitizer runs those tests of the core alone that are about threads, and tests that start
# none and take long are left out. Both kinds go side by side: most of their tests keep one processor busy.
sanitizers: $(VENV)/.dev doctest
	@$(MAKE) --jobs=2 --output-sync=line sanitized-asan-ubsan sanitized-tsan

sanitized-asan-ubsan: $(VENV)/.dev doctest
	$(call CORE,asan-ubsan) $(if $(ARGS),,--exclude-regex core_one_thread)
	$(call SANITIZED_PYTHON,asan-ubsan)

sanitized-tsan: $(VENV)/.dev doctest
ifeq ($(ARGS),--all)
	$(call CORE,tsan)
	$(call SANITIZED_PYTHON,tsan)
else
	$(call BUILD_CORE,tsan) --target thread_tests && build/tsan/thread_tests
endif

sanitizers-slow: $(VENV)/.dev doctest
	@$(MAKE) sanitizers ARGS=--all
	@$(MAKE) fuzz-million

# Builds with no, usual and most optimisation make the same models, bit by bit.
same-bits: $(VENV)/.dev doctest
	@export PATH="$(CURDIR)/$(BIN):$$PATH"; cd core; set -e; \
	    case $$(uname -m) in x86_64) fastest=x86-64-v3 ;; *) fastest=release ;; esac; \
	    for preset in debug dev $$fastest; do \
	        cmake --preset $$preset --log-level=WARNING; \
	        cmake --build --preset $$preset --target core_tests; \
	        ./build/$$preset/core_tests --test-case='*same bits*'; \
	    done

# The core with all supported compilers, for ARM, for a big-endian processor and for Windows;
# ARGS="aarch64 s390x" for some of them. Names what it did not try, and the packages that this needs.
portable: $(VENV)/.dev doctest
	@export PATH="$(CURDIR)/$(BIN):$$PATH"; sh tools/portable.sh $(ARGS)

# The loader of model files under libFuzzer (needs clang); ARGS=-max_total_time=SECONDS, a minute by
# default. What it finds is left in core/build/fuzz.
fuzz: $(VENV)/.dev
	@export PATH="$(CURDIR)/$(BIN):$$PATH"; cd core; cmake --preset fuzz --log-level=WARNING && \
	    cmake --build --preset fuzz && mkdir -p build/fuzz/found && cd build/fuzz && \
	    ./model_file_fuzz -max_total_time=60 -max_len=4096 $(ARGS) found ../../io/corpus

# A million damaged model files under AddressSanitizer and UndefinedBehaviorSanitizer.
fuzz-million: $(VENV)/.dev doctest
	@export PATH="$(CURDIR)/$(BIN):$$PATH"; cd core; cmake --preset asan-ubsan --log-level=WARNING && \
	    cmake --build --preset asan-ubsan --target mutation_fuzz && \
	    ./build/asan-ubsan/mutation_fuzz 1000000 $(SEED)

# Forged models of studies, read and used in processes of their own; ARGS="COUNT SEED".
fuzz-studies: $(VENV)/.dev
	@OPENBLAS_NUM_THREADS=1 MALLOC_PERTURB_=165 \
	    $(BIN)/python -m tests.security.forged_studies $(if $(ARGS),$(ARGS),20000)

# Examples run side by side, where the numeric libraries' threads take several times as long as one.
docs: $(VENV)/.dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -q -j auto $(ARGS) -b html docs docs/_build/html
	@echo "The documentation is at docs/_build/html/index.html"

clean:
	rm -rf $(VENV) build core/build dist docs/_build docs/api/generated docs/gallery/generated

preflight:
	@sh tools/preflight.sh

# The tests of the C++ core use doctest, which only a developer needs.
doctest: | preflight
	@printf '#include <doctest/doctest.h>\n' | $${CXX:-c++} $$CXXFLAGS -fsyntax-only -x c++ - 2>/dev/null || { \
	    echo "The tests of the C++ core need doctest; install it (Debian, Ubuntu: apt-get" \
	        "install doctest-dev; Fedora: dnf install doctest-devel; macOS: brew install doctest)." >&2; exit 1; }

$(VENV)/.made: | preflight
	@echo "Making the environment $(VENV)"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

# One build serves both environments below: the wheel is made again only when a source changed. What a study
# needs is fetched meanwhile. Python compiles what is imported; compiling all of it takes half a minute.
$(VENV)/.wheel: $(VENV)/.made $(SOURCES)
	@echo "Building arboleda and fetching what a study needs (two to three minutes)"
	@rm -rf $(VENV)/wheel
	@$(call REQUIREMENTS,study onnx) || exit; $(call INSTALL,$(LIST)) & fetching=$$!; \
	    $(PIP) wheel --no-deps --wheel-dir $(VENV)/wheel . || $(OFFLINE); \
	    wait $$fetching || $(OFFLINE)
	@touch $@

$(VENV)/.study: $(VENV)/.wheel
	@echo "Installing arboleda"
	@$(call INSTALL,--force-reinstall --no-deps $(VENV)/wheel/*.whl) || $(OFFLINE)
	@touch $@

$(VENV)/.dev: $(VENV)/.wheel
	@echo "Installing arboleda and the developer's tools"
	@$(call REQUIREMENTS,dev) && $(call INSTALL,$(LIST)) && \
	    $(call INSTALL,--force-reinstall --no-deps $(VENV)/wheel/*.whl) || $(OFFLINE)
	@touch $@ $(VENV)/.study
