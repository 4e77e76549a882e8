#!/bin/sh
# SPDX-License-Identifier: MIT
#
# libdtinfo as a program meets it: installs a build, builds the programs of docs/examples/c with what pkg-config
# says, shared and static, runs them, includes the headers in C++, and looks at what the libraries export and
# need. With --subproject, also builds the programs as a project that has libdtinfo in subprojects.
#
# usage: run.sh BUILD-FOLDER [--subproject]
set -eu
cd "$(dirname "$0")/../../.."
build=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
fail() {
    echo "$*"
    exit 1
}

DESTDIR=$root meson install -C "$build" --no-rebuild --quiet
prefix=$root$(meson introspect "$build" --buildoptions | python3 -c '
import json, sys
print(next(option["value"] for option in json.load(sys.stdin) if option["name"] == "prefix"))')
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name dtinfo.pc)")
library=$(dirname "$PKG_CONFIG_PATH")
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR="$root" LD_LIBRARY_PATH="$library"
CC=${CC:-cc} CXX=${CXX:-c++}

# what they say is in .expected, except for what depends on the machine
run_examples() {
    "$1/cast_buffer" fp8_e4m3fn 0.1 1 448 500 | cmp - tests/library/installed/cast_buffer.expected
    "$1/list_checkpoint" docs/sample/model.safetensors | cmp - tests/library/installed/list_checkpoint.expected
    "$1/quantize" | cmp - tests/library/installed/quantize.expected
    if "$1/cast_buffer" fp9 1 2>"$root/error"; then
        fail "an unknown dtype is accepted"
    fi
    grep -q "unknown dtype 'fp9'" "$root/error" || fail "another error: $(cat "$root/error")"
    "$1/list_checkpoint" README.md 2>"$root/error" && fail "README.md is read as a checkpoint"
    [ -s "$root/error" ] || fail "README.md is refused without a word"
}

for name in cast_buffer list_checkpoint quantize; do
    # shellcheck disable=SC2046 # words
    $CC -std=c11 -Wall -Wextra -Wpedantic -Werror "docs/examples/c/$name.c" $(pkg-config --cflags --libs dtinfo) -lm \
        -o "$root/$name"
done
run_examples "$root"
mkdir "$root/static"
for name in cast_buffer list_checkpoint quantize; do
    # shellcheck disable=SC2046 # words
    $CC -std=c11 "docs/examples/c/$name.c" $(pkg-config --cflags dtinfo) "$library/libdtinfo.a" \
        $(pkg-config --static --libs dtinfo | sed 's/-ldtinfo\b//') -lm -o "$root/static/$name"
done
run_examples "$root/static"
echo "3 programs, linked with the shared and the static library: ok"

if command -v "$CXX" >/dev/null; then
    for standard in c++11 c++20; do
        printf '#include <dtinfo.h>\nint main() { return dti_version()[0] == 0; }\n' >"$root/version.cpp"
        # shellcheck disable=SC2046 # words
        "$CXX" -std=$standard -Wall -Wextra -Wpedantic -Werror "$root/version.cpp" $(pkg-config --cflags --libs dtinfo) \
            -o "$root/version"
        "$root/version"
    done
    echo "the headers in C++11 and C++20: ok"
else
    echo "no C++ compiler is here: the headers were not tried in C++"
fi

alien=$(nm -g --defined-only "$library/libdtinfo.a" 2>/dev/null | awk 'NF == 3 { print $3 }' |
    grep -vE '^(dti_|__(odr_)?(asan|ubsan|msan|tsan|sancov|start___sanc|stop___sanc))' || true)
[ -z "$alien" ] || fail "libdtinfo.a defines $alien"
alien=$(nm -D --defined-only "$library/libdtinfo.so" | awk '$2 != "A" { print $3 }' | grep -v '^dti_' || true)
[ -z "$alien" ] || fail "libdtinfo.so exports $alien"
# Of the C library, nothing that prints, ends the process, or asks for the locale. A debug build has assertions.
refused='^(_?exit|_Exit|quick_exit|v?printf|__v?printf_chk|puts|putchar|perror|stdout|setlocale|uselocale|localeconv|signal)$'
bad=$(nm -D -u "$library/libdtinfo.so" | awk '{ sub(/@.*/, "", $2); print $2 }' | grep -E "$refused" || true)
[ -z "$bad" ] || fail "libdtinfo.so needs $bad"
echo "symbols: ok"

if [ "${2:-}" = --subproject ]; then
    cp -r docs/examples/c "$root/project"
    mkdir "$root/project/subprojects"
    ln -s "$PWD" "$root/project/subprojects/dtinfo"
    (cd "$root/project" && unset PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR &&
        meson setup build --buildtype=release -Doptimization=1 -Ddtinfo:cuda=disabled --wrap-mode=forcefallback >/dev/null &&
        meson compile -C build >"$root/log" 2>&1) || { tail -20 "$root/log"; fail "libdtinfo does not build as a subproject"; }
    run_examples "$root/project/build"
    echo "as a subproject: ok"
fi
