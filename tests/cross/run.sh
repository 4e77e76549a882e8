#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The core on another machine, emulated: builds src/util, src/core and their unit tests with a cross
# compiler, runs them under qemu-user, and puts the worked examples to a probe built the same way. The
# command line is left out, since Debian has no cJSON for foreign machines beside the native one.
#
#   tests/cross/run.sh s390x-linux-gnu qemu-s390x        big-endian
#   tests/cross/run.sh i686-linux-gnu qemu-i386          32 bits
#   tests/cross/run.sh aarch64-linux-gnu qemu-aarch64
set -eu
triple=$1 emulator=$2
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compile() {
    "$triple-gcc" -std=c11 -O2 -Wall -Wextra -Wconversion -Werror -ffp-contract=off \
        -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 -DDTI_VERSION='"cross"' \
        -DDTI_TEST_DATA="\"$PWD/tests/data\"" -Iinclude -Isrc -Itests/unit -Itests/oracle "$@"
}

for source in src/util/*.c src/core/*.c; do
    compile -c "$source" -o "$work/$(basename "$source" .c).o"
done
count=0
for test in tests/unit/test_*.c; do
    # what includes nothing of the upper layers
    grep -qE '"(cli|report)/|"dtinfo/(json|table)' "$test" && continue
    compile -static "$test" "$work"/*.o -lm -o "$work/unit"
    if ! "$emulator" "$work/unit" >"$work/log"; then
        echo "$triple: $test"
        cat "$work/log"
        exit 1
    fi
    count=$((count + 1))
done
compile -static tests/oracle/probe.c tests/oracle/request.c "$work"/*.o -o "$work/probe.$triple"
printf '#!/bin/sh\nexec %s %s\n' "$emulator" "$work/probe.$triple" >"$work/probe"
chmod +x "$work/probe"
python3 tests/oracle/test_vectors.py "$work/probe" tests/data/vectors.tsv
echo "$triple: $count unit tests passed"
[ "$count" -gt 10 ]
