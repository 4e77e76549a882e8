#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Builds the fuzz targets as OSS-Fuzz asks for it: CC, CFLAGS and WORK come from there; each target goes into OUT, with
# its seeds as TARGET_seed_corpus.zip. tests/packaging/oss_fuzz.sh runs it without a container.
set -eu
build=$WORK/dtinfo
rm -rf "$build"
meson setup "$build" "$SRC/dtinfo" -Dfuzzing=true -Dbuildtype=plain -Db_lundef=false -Db_pie=false -Dmpfr=disabled -Dremote=disabled \
    -Dcuda=disabled -Dman=disabled -Dprefer_static=true
targets=()
for source in "$SRC/dtinfo"/tests/fuzz/fuzz_*.c; do
    targets+=("$(basename "$source" .c)")
done
ninja -C "$build" "${targets[@]/#/tests/fuzz/}" # these and what they link, which is all but the program's main()
for target in "${targets[@]}"; do
    cp "$build/tests/fuzz/$target" "$OUT/"
    (cd "$SRC/dtinfo/tests/fuzz/seeds/${target#fuzz_}" && rm -f "$OUT/${target}_seed_corpus.zip" && zip -q -r "$OUT/${target}_seed_corpus.zip" .)
    printf '[libfuzzer]\nmax_len = 2000\n' >"$OUT/$target.options"
done
