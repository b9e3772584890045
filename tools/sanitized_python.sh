#!/bin/sh
# Python's tests of the compiled module, with that module under AddressSanitizer and
# UndefinedBehaviorSanitizer:    BIN=.venv/bin sh tools/sanitized_python.sh --short | --all
#
# The core is the one that the preset asan-ubsan has built; only the bindings are compiled here.
# The interpreter is not built so: the sanitizer's library is loaded before it, and leaks are not
# counted, because Python leaves much for the system to free (tests/persist has its own test of leaks).
# ThreadSanitizer runs on the core's own tests alone.
set -eu
cd "$(dirname "$0")/.."

short="tests/persist tests/security tests/golden tests/tree/test_state.py tests/tree/test_degenerate.py
    tests/property/test_save_load.py tests/property/test_structure.py tests/property/test_threads.py"
long="tests/persist tests/security tests/golden tests/tree tests/property"
case "${1:-}" in
    --short) tests=$short ;;
    --all) tests=$long ;;
    *) echo "usage: BIN=.venv/bin sh tools/sanitized_python.sh --short | --all" >&2; exit 2 ;;
esac

folder=build/sanitized
core=${CORE_BUILD:-$PWD/core/build/asan-ubsan}
flags="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
echo "Building the module with sanitizers"
CXX=g++ CXXFLAGS="$flags" LDFLAGS="$flags" PATH="$BIN:$PATH" "$BIN/python" -m pip \
    --disable-pip-version-check --quiet install --no-build-isolation --no-deps --upgrade \
    --target "$folder" -C build-dir=build/sanitized-objects -C cmake.build-type=RelWithDebInfo \
    -C install.strip=false -C "cmake.define.ARBOLEDA_CORE_BUILD=$core" \
    -C cmake.define.ARBOLEDA_STUB=OFF .

# libstdc++ as well: the sanitizer looks for its throw before Python has loaded it.
preload="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so)"
export LD_PRELOAD="$preload" PYTHONPATH="$folder" PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0
"$BIN/python" -c 'import arboleda._native as n; assert "sanitized" in n.__file__, n.__file__'
# What measures time or memory, mounts disks or forks tests something else than memory safety.
# shellcheck disable=SC2086
"$BIN/python" -m pytest -q -p no:cacheprovider --timeout 600 \
    -k "not leaks and not memory and not full_disk and not forked and not ctrl_c" $tests
