#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs all tests that need a GPU: all kernels compared with the CPU bit for bit, files, faults that can be
# provoked, and compute-sanitizer if it is installed. Also writes a folder of measurements, which are not judged.
#
#   tests/gpu/run.sh                              builds in build-gpu, and runs everything on cuda:0
#   tests/gpu/run.sh --build build --short        the program of build/, as it is; a short walk
#   tests/gpu/run.sh --results FOLDER             where the measurements go; build-gpu/results otherwise
#   tests/gpu/run.sh --device cuda:1
#
# --pretend LIBRARY tests this script itself, on the fake driver of tests/fake, without a GPU.
# Without a device it prints a message and exits with 77. The last line is "N passed, N failed".
set -u
cd "$(dirname "$0")/../.." || exit 1

build='' short='' pretend='' results='' device=cuda:0
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=$(realpath "$2") && shift ;;
    --pretend) pretend=$(realpath "$2") && shift ;;
    --results) results=$2 && shift ;;
    --device) device=$2 && shift ;;
    --short) short=1 ;;
    *)
        echo "usage: tests/gpu/run.sh [--build FOLDER] [--short] [--results FOLDER] [--device cuda:N]" >&2
        exit 2
        ;;
    esac
    shift
done

if [ -z "$build" ]; then
    build=$PWD/build-gpu
    [ -d "$build" ] || meson setup "$build" -Dbuildtype=release || exit 1
    meson compile -C "$build" || exit 1
fi
dtinfo=$build/dtinfo check_device=$build/tests/gpu/check_device
check_kernels=$build/tests/gpu/check_kernels
for program in "$dtinfo" "$check_device" "$check_kernels"; do
    [ -x "$program" ] || { echo "$program is not built" >&2; exit 1; }
done
results=${results:-$build/results}
mkdir -p "$results" || exit 1
results=$(realpath "$results")
tests=$PWD/tests
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -n "$pretend" ]; then
    export DTINFO_LIBCUDA=$pretend
    export DTINFO_LIBNVML=$work/none # the NVML of a real driver would report other devices
fi
effort=''
[ -z "$short" ] || effort=--quick

passed=0 failed=0
# part NAME COMMAND...
part() {
    local name=$1 start=$SECONDS
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
        echo "ok      $name   $((SECONDS - start)) s"
    else
        failed=$((failed + 1))
        echo "FAILED  $name"
        tail -n 40 "$work/log"
    fi
}

if ! "$dtinfo" cast 1 bf16 --device "$device" >"$work/first" 2>&1; then
    echo "skipped: no $device here: $(cat "$work/first")"
    [ -z "$pretend" ] || exit 1
    exit 77
fi
"$dtinfo" devices 2>/dev/null || true

# The report on the device.
devices() {
    "$dtinfo" devices --json >"$results/devices.json" && "$dtinfo" devices -v >"$results/devices.txt" &&
        grep -q "$device" "$results/devices.txt" && grep -q "$device" "$results/devices.json"
}

# Each kernel by itself: policies, lengths, alignments, guards. On the fake driver, all kernels take minutes.
kernels() {
    local row=()
    [ -z "$pretend" ] || row=(--row "$1")
    # shellcheck disable=SC2086 # an option or nothing
    CHECK_DEVICE=${device#cuda:} "$check_kernels" rows $effort "${row[@]}" >"$results/kernels.txt"
}

casts() {
    # shellcheck disable=SC2086 # an option or nothing
    "$check_device" $effort --device "$device" >"$results/casts.txt"
}

values() {
    local value
    for value in 0.1 1/3 70000 -1e-9 1e400 nan -inf 18446744073709551615 0x1.fffffffffffffp-1060; do
        "$dtinfo" cast "$value" all --device cpu -q >"$work/cpu" &&
            "$dtinfo" cast "$value" all --device "$device" -q >"$work/gpu" &&
            cmp "$work/cpu" "$work/gpu" || return 1
    done
}

# The same bytes and the same report, except for the name of the device.
same_file() {
    local input=$1 dtype=$2 form=$3
    shift 3
    rm -f "$work"/out-*
    "$dtinfo" cast "$input" "$dtype" "$@" -o "$work/out-cpu.$form" --json >"$work/cpu.json" &&
        "$dtinfo" cast "$input" "$dtype" "$@" -o "$work/out-gpu.$form" --device "$device" --json \
            >"$work/gpu.json" && cmp "$work/out-cpu.$form" "$work/out-gpu.$form" || return 1
    grep -q "\"device\":\"$device\"" "$work/gpu.json" || { cat "$work/gpu.json"; return 1; }
    sed -e 's/"device":"[^"]*"//' -e 's/"host":{[^}]*}//' -e 's/out-.pu//g' "$work/cpu.json" >"$work/a"
    sed -e 's/"device":"[^"]*"//' -e 's/"host":{[^}]*}//' -e 's/out-.pu//g' "$work/gpu.json" >"$work/b"
    cmp "$work/a" "$work/b"
}

files() {
    local dtype
    python3 "$tests/makers/make_checkpoint.py" "$work/model" --single &&
        python3 "$tests/makers/make_checkpoint.py" "$work/shards" &&
        python3 "$tests/makers/make_checkpoint.py" "$work/others" --others || return 1
    for dtype in bf16 fp16 fp8_e4m3fn fp8_e5m2 fp64; do
        same_file "$work/model/model.safetensors" "$dtype" safetensors || return 1
        same_file "$work/shards/model.safetensors.index.json" "$dtype" safetensors --as safetensors ||
            return 1
        same_file "$work/others/weights.npy" "$dtype" npy || return 1
    done
}

megabytes=2048
[ -z "$short" ] || megabytes=4
large_file() {
    head -c "${megabytes}M" /dev/urandom >"$work/large.bin" || return 1
    "$dtinfo" cast "$work/large.bin" bf16 --from fp32 --device cpu -q -o "$work/want" || return 1
    same_file "$work/large.bin" bf16 bin --from fp32 && same_file "$work/large.bin" int4 bin --from int8 &&
        same_file "$work/large.bin" fp8_e4m3fn bin --from fp32 --round stochastic --seed 3 &&
        "$dtinfo" cast - bf16 --from fp32 --device "$device" -o - <"$work/large.bin" | cmp - "$work/want"
}

# fails STATUS COMMAND...: must exit with this status and leave no file.
fails() {
    local status=$1 code=0
    shift
    rm -rf "$work/target" && mkdir "$work/target" || return 1
    "$@" >"$work/said" 2>&1 || code=$?
    [ "$code" = "$status" ] || { echo "ended with $code: $*"; cat "$work/said"; return 1; }
    [ -z "$(ls -A "$work/target")" ] || { echo "left a file: $*"; return 1; }
}

# Falls back to the CPU's result, whatever happens to the device.
falls_back() {
    rm -f "$work/out-auto"
    "$@" "$dtinfo" cast "$work/large.bin" bf16 --from fp32 --device auto -q -o "$work/out-auto" &&
        cmp "$work/out-auto" "$work/want"
}

cast_large() {
    fails 5 "$@" "$dtinfo" cast "$work/large.bin" bf16 --from fp32 --device cuda -o "$work/target/out"
}

no_device() {
    local hidden=CUDA_VISIBLE_DEVICES=
    [ -z "$pretend" ] || hidden=FAKE_CUDA=devices=0
    cast_large env "$hidden" && falls_back env "$hidden"
}

wrong_device() {
    fails 5 "$dtinfo" cast "$work/large.bin" bf16 --from fp32 --device cuda:1000 -o "$work/target/out"
}

# No driver is fast enough for this limit.
time_limit() {
    local slow=(DTINFO_CUDA_TIMEOUT=0.001)
    [ -z "$pretend" ] || slow=(DTINFO_CUDA_TIMEOUT=0.2 FAKE_CUDA=hang=kernel:1)
    cast_large env "${slow[@]}" && falls_back env "${slow[@]}"
}

# With almost all device memory in use.
little_memory() {
    [ -n "$pretend" ] || "$check_device" --quick --leave 48 --device "$device"
}

interrupted() {
    local delay code
    for delay in 0.05 0.1 0.2 0.4; do
        code=0
        rm -rf "$work/target" && mkdir "$work/target" || return 1
        timeout -s INT "$delay" "$dtinfo" cast "$work/large.bin" bf16 --from fp32 --device "$device" -q \
            -o "$work/target/out" || code=$?
        case $code in
        # the signal may arrive after the work is done
        0 | 124 | 130)
            case $(ls -A "$work/target") in
            "") [ "$code" != 0 ] || return 1 ;;
            out) cmp "$work/target/out" "$work/want" || return 1 ;;
            *) ls -A "$work/target"; return 1 ;;
            esac ;;
        *) echo "ended with $code"; return 1 ;;
        esac
    done
}

sanitizer() {
    compute-sanitizer --tool "$1" --error-exitcode 9 "$check_device" --quick --device "$device"
}

seconds=5
[ -z "$short" ] || seconds=0.2
bench() {
    local what=$1
    shift
    "$dtinfo" bench "$what" "$@" --device "$device" --time "$seconds" --json >"$results/$what.json" &&
        "$dtinfo" bench "$what" "$@" --device "$device" --time "$seconds" >"$results/$what.txt"
}

part devices devices
part values values
part kernels kernels fp32_to_
part casts casts
part files files
part "large file" large_file
part "no device" no_device
part "a device that is not there" wrong_device
part "time limit" time_limit
part "little memory" little_memory
part interrupted interrupted
if [ -n "$pretend" ]; then
    echo "skipped compute-sanitizer: a pretend driver"
elif command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck initcheck synccheck; do
        part "compute-sanitizer $tool" sanitizer "$tool"
    done
else
    echo "skipped compute-sanitizer: not installed"
fi
sizes=64MiB,1GiB
[ -z "$short" ] || sizes=64KiB
part "bench cast" bench cast fp32:bf16,fp32:fp16,fp32:fp8_e4m3fn,bf16:fp32,fp8_e4m3fn:fp32 --size "$sizes"
part "bench copy" bench copy --size "$sizes"
echo "measurements: $results"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
