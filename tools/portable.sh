#!/bin/sh
# Compiles the core with every supported compiler, warnings as errors, and for other processors and
# systems, and runs the tests that models and their files have the same bits there, in an emulator where
# this machine is another one; on aarch64 all tests of the core.
#     sh tools/portable.sh [PRESET ...]        all presets by default; an hour of processor time
#
# Nothing is installed: what is missing is named at the end, and is a failure.
set -eu
cd "$(dirname "$0")/../core"

presets="gcc-11 gcc-12 gcc-13 gcc-14 clang-14 clang-16 clang-19 plain aarch64 s390x windows"

# Sets the compiler of a preset, the emulator that runs what it makes, and the packages of Debian and
# Ubuntu that have both.
describe() {
    emulator=""
    case $1 in
        gcc-*) compiler=g++-${1#gcc-}; packages=$compiler ;;
        clang-*) compiler=clang++-${1#clang-}; packages=$1 ;;
        plain) compiler=c++; packages=g++ ;;
        aarch64 | s390x)
            compiler=$1-linux-gnu-g++; emulator=qemu-$1; packages="g++-$1-linux-gnu qemu-user" ;;
        windows)
            compiler=x86_64-w64-mingw32-g++-posix; emulator=wine
            packages="g++-mingw-w64-x86-64-posix wine wine64" ;;
        *) echo "There is no preset '$1'; there are: $presets" >&2; exit 2 ;;
    esac
}

has() {
    [ -z "$1" ] || command -v "$1" >/dev/null 2>&1
}

missing=""
for preset in ${*:-$presets}; do
    describe "$preset"
    if ! has "$compiler" || ! has "$emulator"; then
        missing="$missing
    $preset: apt-get install $packages"
        continue
    fi
    echo "=== $preset"
    cmake --preset "$preset" --log-level=WARNING
    if [ "$preset" = aarch64 ]; then
        cmake --build --preset "$preset"
        ctest --preset "$preset"
    else
        cmake --build --preset "$preset" --target bits_tests
        tests=$(ls "build/$preset/bits_tests"*)
        $emulator "$tests"
    fi
done
if [ -n "$missing" ]; then
    echo "Not tried, because a compiler or an emulator is missing here:$missing" >&2
    exit 1
fi
