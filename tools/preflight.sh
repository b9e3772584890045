#!/bin/sh
# Reports in one sentence what a build lacks and how to get it; silent when nothing is missing.
#   PYTHON=python3 sh tools/preflight.sh
# Only the shell's own commands are used before Python has been found.
set -u

PYTHON=${PYTHON:-python3}

missing() {
    echo "arboleda cannot be built here: $*" >&2
    exit 1
}

command -v "$PYTHON" >/dev/null 2>&1 ||
    missing "there is no '$PYTHON'; install Python 3.11 or newer" \
        "(Debian, Ubuntu: apt-get install python3 python3-venv python3-dev)," \
        "or name yours with 'make PYTHON=/path/to/python3 ...'."

version=$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) ||
    missing "'$PYTHON' does not run; name a working Python 3.11 or newer" \
        "with 'make PYTHON=/path/to/python3 ...'."

"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    missing "'$PYTHON' is Python $version and 3.11 or newer is needed; install a newer one" \
        "and name it with 'make PYTHON=python3.12 ...'."

"$PYTHON" -c 'import venv, ensurepip' 2>/dev/null ||
    missing "Python $version lacks the modules venv and ensurepip; install them" \
        "(Debian, Ubuntu: apt-get install python3-venv)."

"$PYTHON" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' ||
    missing "the C headers of Python $version (Python.h) are not installed; install them" \
        "(Debian, Ubuntu: apt-get install python3-dev; Fedora: dnf install python3-devel)."

if [ -e .venv ] && ! .venv/bin/python -c 'import pip' >/dev/null 2>&1; then
    missing "its environment .venv no longer works (was the folder moved, or Python removed?);" \
        "remove it with 'make clean' and try again."
fi

compiler=${CXX:-}
if [ -z "$compiler" ]; then
    for candidate in c++ g++ clang++; do
        if command -v "$candidate" >/dev/null 2>&1; then
            compiler=$candidate
            break
        fi
    done
fi
# CXX may hold options beside the name, so its first word is the program.
[ -n "$compiler" ] && command -v "${compiler%% *}" >/dev/null 2>&1 ||
    missing "there is no C++ compiler${compiler:+ named '$compiler'}; install one" \
        "(Debian, Ubuntu: apt-get install g++; Fedora: dnf install gcc-c++;" \
        "macOS: xcode-select --install), or name yours with 'CXX=/path/to/c++ make ...'."

# Nothing is written: the program only checks that compiler and library support C++20.
printf '%s\n' '#include <bit>' '#include <concepts>' '#include <span>' \
    'template <std::integral T> int ones(T x) { return std::popcount(x); }' \
    'int main() { unsigned a[1] = {1}; return ones(std::span<unsigned>(a)[0]) - 1; }' |
    $compiler -std=c++20 -fsyntax-only -x c++ - >/dev/null 2>&1 ||
    missing "'$compiler' does not compile C++20; install GCC 11, Clang 14 or newer," \
        "and name it with 'CXX=/path/to/c++ make ...'."
