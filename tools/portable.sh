#!/bin/sh
# Compiles the core with every supported compiler, warnings as errors, and for other processors and
# systems, and runs the tests that models and their files have the same bits there, in an emulator where
# this machine is another one.
#     sh tools/portable.sh [PRESET ...]        all presets by default: three quarters of an hour
#     sh tools/portable.sh aarch64-golden      only reading and predicting, on aarch64: a minute or two
#
# Nothing is installed: what was not tried is named at the end, with the packages that it needs. That is a
# failure only where presets were given; no distribution has all compilers.
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
        aarch64* | s390x)
            machine=${1%-golden}
            compiler=$machine-linux-gnu-g++; emulator=qemu-$machine
            packages="g++-$machine-linux-gnu qemu-user" ;;
        windows)
            compiler=x86_64-w64-mingw32-g++-posix; emulator=wine
            packages="g++-mingw-w64-x86-64-posix wine wine64" ;;
        *) echo "There is no preset '$1'; there are: $presets" >&2; exit 2 ;;
    esac
}

has() {
    [ -z "$1" ] || command -v "$1" >/dev/null 2>&1
}

not_tried=""
for preset in ${*:-$presets}; do
    describe "$preset"
    lacking=""
    has "$compiler" || lacking=$compiler
    has "$emulator" || lacking="${lacking:+$lacking and }$emulator"
    if [ -n "$lacking" ]; then
        not_tried="$not_tried${not_tried:+
}Not tried: $preset ($lacking is not installed; Debian, Ubuntu: apt-get install $packages)"
        continue
    fi
    echo "=== $preset"
    cmake --preset "$preset" --log-level=WARNING
    targets="golden_tests bits_tests"
    [ "$preset" != aarch64-golden ] || targets=golden_tests
    # shellcheck disable=SC2086
    cmake --build --preset "$preset" --target $targets
    # The weight of a round of AdaBoost is a logarithm of the system's, which is another one on Windows.
    left_out=""
    [ "$preset" != windows ] || left_out="--test-case-exclude=*AdaBoost*"
    for target in $targets; do
        tests=$(ls "build/$preset/$target"*)
        # shellcheck disable=SC2086
        $emulator "$tests" $left_out
    done
done
if [ -n "$not_tried" ]; then
    echo "$not_tried" >&2
    [ $# -eq 0 ] || exit 1
fi
