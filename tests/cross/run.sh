#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Builds and tests the core, the array kernels and the file readers for another machine, under emulation:
# cross-compiles src/util, src/core, src/kernels, src/devices, src/convert, src/containers, src/files and
# their unit tests, runs them under qemu-user, checks the worked examples with a probe built the same way, and
# checks every kernel row and a sample of plans. The command line is left out (commands.sh has it): it needs zlib,
# libdeflate and nettle for the foreign machine, which a bare Debian has for its own alone. For containers no_inflate.c
# replaces the first two.
#
#   tests/cross/run.sh s390x-linux-gnu qemu-s390x        big-endian
#   tests/cross/run.sh i686-linux-gnu qemu-i386          32 bits, without optimisation; without the emulator where
#                                                        this machine runs such programs itself
#   tests/cross/run.sh aarch64-linux-gnu qemu-aarch64    with the NEON kernels
#   tests/cross/run.sh riscv64-linux-gnu qemu-riscv64    arithmetic that makes one NaN of all
#
# The native build already covers little-endian 64-bit machines: on those, only tests that use the vector
# kernels run, and of many like cases each third or so, always the same. With CI_WHOLE in the environment every machine runs all
# tests.
set -eu
export DTI_TEST_QUICK=1
[ -n "${CI_WHOLE:-}" ] || export DTI_TEST_SPARSE=1
triple=$1 emulator=$2
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compiler_cache=$(command -v ccache || true)
# gcc takes half a minute to unroll one file of kernels at -O3: every night.
extra='' neon='' optimisation=-O2 kernel_optimisation=-O2
[ -z "${CI_WHOLE:-}" ] || kernel_optimisation=-O3
case $triple in
aarch64-*) neon=-DDTI_HAVE_NEON ;;
# SSE2: no excess precision in doubles
i686-*) extra='-msse2 -mfpmath=sse' optimisation=-O0 kernel_optimisation=-O0 ;;
esac

cat >"$work/compile" <<END
#!/bin/sh
exec $compiler_cache $triple-gcc -std=c11 $optimisation -Wall -Wextra -Wconversion -Wno-psabi -Werror -ffp-contract=off $extra $neon \\
    -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 -DDTI_VERSION='"cross"' -DDTI_LIBM_LINKED \\
    -DDTI_TEST_DATA='"$PWD/tests/data"' -Iinclude -Isrc -Itests/unit -Itests/oracle "\$@"
END
cat >"$work/object" <<END
#!/bin/sh
folder=\$1 source=\$2
shift 2
"$work/compile" "\$@" -c "\$source" -o "\$folder/\$(basename "\$source" .c).o" || exit 255 # xargs ends as well
END
chmod +x "$work/compile" "$work/object"

# Objects in a folder, from lines with a source and its flags; as many at once as there are processors, since one machine takes longer
# than another.
objects() {
    xargs -L 1 -P "$(nproc)" "$work/object" "$1"
}

link() {
    output=$1
    shift
    "$work/compile" -static "$@" "$work/all.a" -lm -pthread -o "$output" 2>"$work/warnings" ||
        { cat "$work/warnings"; exit 1; } # the linker warns about dlopen() in static programs
}

# A machine that runs the program needs no emulator.
echo 'int main(void) { return 0; }' >"$work/native.c"
"$work/compile" -static "$work/native.c" -o "$work/native"
if "$work/native" 2>/dev/null; then
    emulator='env'
fi

# The unit test groups of these layers, one per line, as named in tests/unit/meson.build.
groups_of() {
    for layer in "$@"; do
        sed -n "/^unit_groups/,/^}/{/'$layer': \\[/,/\\]/p}" tests/unit/meson.build | grep -o "'[a-z0-9_]*'[^:]" |
            cut -d"'" -f2
    done
}

# Whether this machine runs a group of unit tests.
wanted() {
    [ -z "${CI_WHOLE:-}" ] || return 0
    case $triple:$1 in
    *:growth) return 1 ;;       # its counts are the same on every machine
    s390x-*:loss_ratios | i686-*:loss_ratios) return 1 ;; # of vector code, which neither has
    s390x-*:expsin) return 1 ;; # arithmetic only, independent of byte order
    s390x-*:regexes) return 1 ;; # steps over bytes; long, since it uses up the steps that a pattern may take
    # long without optimisation, and not about sizes
    i686-*:matmul* | i686-*:bulk_sum | i686-*:loss_near | i686-*:expsin) return 1 ;;
    aarch64-*) groups_of kernels convert | grep -qx "$1" ;;
    esac
}

run() {
    if ! "$emulator" "$@" >"$work/log"; then
        echo "$triple: $*"
        cat "$work/log"
        exit 1
    fi
}

# Writes a script that runs a program under the emulator, for tests that start the program.
wrap() {
    printf '#!/bin/sh\nexec %s %s "$@"\n' "$emulator" "$work/$1.$triple" >"$work/$1"
    chmod +x "$work/$1"
}

for source in $(find src/util src/io src/core src/devices src/convert src/calc src/containers src/files -name '*.c') \
    tests/cross/no_inflate.c; do
    case $source in
    */net/absent.c | */inflate.c | */crc32.c | */file_digest.c) continue ;;
    */truth_absent.c) ;;
    */truth*.c | */function_value.c | */multi_library.c) continue ;; # need the MPFR headers
    esac
    echo "$source"
done | objects "$work"
for source in $(find src/kernels -name '*.c' ! -path '*/x86/*' ! -path '*/arm/*') ${neon:+src/kernels/arm/*.c}; do
    extension=
    case $source in
    *_neonbf16.c) extension=-march=armv8.2-a+bf16 ;;
    *_neonfp16.c) extension=-march=armv8.2-a+fp16 ;;
    esac
    echo "$source $kernel_optimisation${extension:+ $extension}" # a blank at the end would join it to the next
done | objects "$work"
ar rcs "$work/all.a" "$work"/*.o

mkdir "$work/unit"
for test in tests/unit/unit_main.c tests/unit/quant_reference.c tests/unit/test_*.c; do
    # only tests that include nothing from the upper layers
    grep -qE '"(cli|answers|report|bench)/|"json_document' "$test" && continue
    case $test in
    # in qemu-user /proc/self/stat is a regular file, and memory limits have no effect
    */test_input.c | */test_parallel.c) continue ;;
    */test_window.c) continue ;; # qemu-user does not deliver SIGBUS as a kernel does
    */test_npz_deflate.c) continue ;; # needs zlib
    */test_truth.c | */test_function_value.c | */test_multi_library.c) continue ;; # need MPFR
    # the fake driver is built for this machine only
    */test_gpu*.c | */test_runner.c | */test_device_plan.c | */test_cross_check.c | */test_library.c) continue ;;
    esac
    group=${test##*/test_}
    [ "$group" = "$test" ] || wanted "${group%.c}" || continue # a file that is not a group may be needed by all groups
    echo "$test"
done | objects "$work/unit"
link "$work/test_all" "$work"/unit/*.o # the native build checks that no layer calls upwards
cat >"$work/group" <<END
#!/bin/sh
"$emulator" "$work/test_all" "\$1" >"$work/\$1.log" || { echo "$triple: \$1"; cat "$work/\$1.log"; exit 1; }
END
chmod +x "$work/group"
"$emulator" "$work/test_all" >"$work/groups"
xargs -n 1 -P "$(nproc)" "$work/group" <"$work/groups"
count=$(wc -l <"$work/groups")

link "$work/probe.$triple" tests/oracle/probe.c tests/oracle/request.c
link "$work/array_probe.$triple" tests/oracle/array_probe.c tests/oracle/request.c
wrap probe
wrap array_probe
export PYTHONPATH=tests/oracle:tests/oracle/core
python3 tests/oracle/core/test_vectors.py "$work/probe" tests/data/vectors.tsv
python3 tests/oracle/kernels/test_arrays.py "$work/array_probe" tests/data/vectors.tsv --quick

policies= # as many as with sanitizers: one in 40
[ -n "${CI_WHOLE:-}" ] || policies=-DQUICK_POLICIES=40
# shellcheck disable=SC2086 # a word or none
link "$work/checkkern" $policies tests/kernels/checkkern.c tests/kernels/check_[!g]*.c # no device code
whats='rows plans rules'
# The self-test shows for each byte order that the check detects faults; emulated it takes as long as all unit tests of s390x
# together, so on a push only the native build has it.
case $triple:${CI_WHOLE:-} in s390x-*:?*) whats="--selftest $whats" ;; esac
for what in $whats; do
    level=
    [ -n "${CI_WHOLE:-}" ] || [ "$neon$what" != -DDTI_HAVE_NEONrows ] || level=neon # the native build checks scalar rows
    run "$work/checkkern" "$what" ${level:+"$level"} --quick
    tail -n 1 "$work/log"
done
echo "$triple: $count unit tests passed"
[ "$count" -gt 10 ]
