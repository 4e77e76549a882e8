#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The steps of OSS-Fuzz with packaging/oss-fuzz, on this machine: builds the targets with its variables and each
# sanitizer, and runs each target on its seeds and 200 inputs more. Exits with 77 where clang or zip is missing. ccache is
# used where it is installed and CC names no other compiler: then a second run compiles only what has changed.
set -eu
cd "$(dirname "$0")/../.."
for tool in clang zip unzip; do
    command -v "$tool" >/dev/null || { echo "$tool is missing: nothing was tested"; exit 77; }
done
# in the tree: ccache knows files by their names, which are relative to the build
folder=$(mktemp -d "$PWD/build-oss-fuzz-XXXXXX")
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src" && ln -s "$PWD" "$folder/src/dtinfo"
failures=0
if [ -z "${CC:-}" ]; then
    CC=clang
    ! command -v ccache >/dev/null || CC="ccache clang"
fi
export CC CCACHE_NOHASHDIR=1 # objects do not depend on the name of the folder
for sanitizer in ${SANITIZERS:-address undefined}; do
    export SRC=$folder/src OUT=$folder/out-$sanitizer WORK=$folder/work-$sanitizer
    export CFLAGS="-O1 -gline-tables-only -fsanitize=$sanitizer,fuzzer-no-link" LDFLAGS="-fsanitize=$sanitizer"
    [ "$sanitizer" != undefined ] || CFLAGS+=" -fno-sanitize-recover=undefined"
    mkdir -p "$OUT" "$WORK"
    packaging/oss-fuzz/build.sh >"$folder/log" 2>&1 || { tail -n 20 "$folder/log" | cut -c 1-300; exit 1; }
    for corpus in "$OUT"/*_seed_corpus.zip; do
        target=${corpus%_seed_corpus.zip}
        rm -rf "$folder/seeds" && mkdir "$folder/seeds" && unzip -q "$corpus" -d "$folder/seeds"
        if "$target" -runs="$(($(find "$folder/seeds" -type f | wc -l) + 200))" -seed=1 -max_len=2000 "$folder/seeds" >"$folder/log" 2>&1; then
            echo "ok    $sanitizer $(basename "$target")"
        else
            echo "FAIL  $sanitizer $(basename "$target")"
            tail -n 20 "$folder/log"
            failures=$((failures + 1))
        fi
    done
done
[ "$failures" = 0 ]
