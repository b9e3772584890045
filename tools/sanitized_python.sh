#!/bin/sh
# Python's tests of the compiled module, with that module under sanitizers:
#     BIN=.venv/bin sh tools/sanitized_python.sh asan-ubsan --short | asan-ubsan --all | tsan --all
#
# The core comes from the build of the preset with that name; only the bindings are compiled here.
# The interpreter is not sanitized; the sanitizer's library is loaded before it. ThreadSanitizer then
# sees Python's own locks, because it intercepts pthread calls, but not Python's memory accesses.
# Leaks are not counted, because Python leaves much memory for the system to free (tests/persist has
# its own test of leaks).
set -eu
cd "$(dirname "$0")/.."

usage() {
    echo "usage: BIN=.venv/bin sh tools/sanitized_python.sh asan-ubsan --short | asan-ubsan --all | tsan --all" >&2
    exit 2
}

# Tests that measure time or memory, mount disks or fork are not meaningful under sanitizers.
never="not leaks and not memory and not full_disk and not forked"
preset=${1:-}
case "$preset ${2:-}" in
    "asan-ubsan --short")
        tests="tests/persist tests/security tests/golden tests/tree/test_state.py
            tests/boosting/test_ensemble.py tests/tree/test_degenerate.py
            tests/property/test_save_load.py tests/property/test_structure.py"
        # Forged or damaged studies exercise packages that are not sanitized; what starts processes of its
        # own takes long and shows nothing about memory.
        which="$never and not ctrl_c and not forged_studies and not damaged_studies"
        which="$which and not runs_nothing and not bytes_depend_only" ;;
    "asan-ubsan --all")
        tests="tests/persist tests/security tests/golden tests/tree tests/property
            tests/boosting/test_ensemble.py"
        which="$never and not ctrl_c" ;;
    "tsan --all")
        tests="tests/persist/test_threads.py tests/property/test_threads.py
            tests/property/test_pruning.py tests/tree/test_state.py tests/tree/test_pruned_tree.py
            tests/tree/test_random_splits.py tests/tree/test_bins.py"
        which="$never" ;;
    *) usage ;;
esac

case "$preset" in
    tsan) sanitizers=thread; library=libtsan.so; only="" ;;
    *) sanitizers=address,undefined; library=libasan.so; only="-fno-sanitize-recover=all" ;;
esac

folder=build/sanitized/$preset
core=${CORE_BUILD:-$PWD/core/build/$preset}
flags="-fsanitize=$sanitizers $only -fno-omit-frame-pointer"
echo "Building the module with $preset"
CXX=g++ CXXFLAGS="$flags" LDFLAGS="$flags" PATH="$BIN:$PATH" "$BIN/python" -m pip \
    --disable-pip-version-check --quiet install --no-build-isolation --no-deps --upgrade \
    --target "$folder" "--config-settings=build-dir=build/sanitized-objects/$preset" \
    --config-settings=cmake.build-type=RelWithDebInfo --config-settings=install.strip=false \
    "--config-settings=cmake.define.CMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1" \
    "--config-settings=cmake.define.ARBOLEDA_CORE_BUILD=$core" \
    --config-settings=cmake.define.ARBOLEDA_STUB=OFF .

# libstdc++ as well: the sanitizer looks up its throw function before Python has loaded it.
preload="$(g++ -print-file-name="$library") $(g++ -print-file-name=libstdc++.so)"
export LD_PRELOAD="$preload" PYTHONPATH="$folder" PYTHONMALLOC=malloc OPENBLAS_NUM_THREADS=1
export ASAN_OPTIONS=detect_leaks=0 \
    TSAN_OPTIONS="halt_on_error=1 suppressions='$PWD/tools/tsan_suppressions.txt'"
"$BIN/python" -c 'import arboleda._native as n; assert "sanitized" in n.__file__, n.__file__'
# --capture=sys: what a sanitizer writes before it ends the process must not be captured. The tests under
# ThreadSanitizer start threads for all processors themselves.
[ "$preset" = tsan ] && processes=0 || processes=logical
# shellcheck disable=SC2086
"$BIN/python" -m pytest -n "$processes" --maxprocesses 4 --dist loadfile -q -p no:cacheprovider --capture=sys --timeout 600 -k "$which" $tests
