#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Reports which functions of the readers and of the file operations the fuzz targets reach with their seeds,
# and with a corpus if there is one.
#
#   tests/fuzz/coverage.sh [CORPUS [FOLDER...]]
#
# CORPUS has a folder for each target, or is "none"; FOLDER defaults to src/containers and src/files.
# Prints a line for each file: functions, functions reached, and the names of the others. Requires clang,
# llvm-profdata and llvm-cov of any version. The build folder is build-coverage.
set -eu
cd "$(dirname "$0")/../.."
corpus=${1:-none}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- src/containers src/files

# The newest version of a tool, with or without a version suffix.
tool() {
    compgen -c "$1" | grep -E "^$1(-[0-9]+)?\$" | sort -Vu | tail -n 1 | grep . ||
        { echo "$1 is missing" >&2; return 1; }
}
profdata=$(tool llvm-profdata)
cov=$(tool llvm-cov)

build='build-coverage'
export LLVM_PROFILE_FILE=/dev/null # the compiler's own checks write a profile, too
if [ ! -d $build ]; then
    CC=${CC:-clang} meson setup $build -Dcuda=disabled -Db_lundef=false \
        -Dc_args="-fprofile-instr-generate -fcoverage-mapping" -Dc_link_args=-fprofile-instr-generate >&2
fi
targets=()
for seeds in tests/fuzz/seeds/*/; do
    targets+=("$(basename "$seeds")")
done
ninja -C $build "${targets[@]/#/tests/fuzz/fuzz_}" >&2

objects=()
rm -f $build/*.profraw
for target in "${targets[@]}"; do
    folders=("tests/fuzz/seeds/$target")
    [ ! -d "$corpus/$target" ] || folders+=("$corpus/$target")
    objects+=(-object "$build/tests/fuzz/fuzz_$target")
    LLVM_PROFILE_FILE=$PWD/$build/$target.profraw "$build/tests/fuzz/fuzz_$target" 1000 "${folders[@]}" 2>&1 |
        sed "s/^/$target: /" >&2
done
"$profdata" merge -o $build/all.profdata $build/*.profraw
"$cov" export -instr-profile $build/all.profdata "${objects[@]:1}" >$build/coverage.json
python3 tests/fuzz/coverage_table.py $build/coverage.json "$@"
