#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Builds the whole program for another machine and runs the golden tests of the command line (tests/cli) with it, under
# emulation. The libraries of that machine are packages of Debian, unpacked into a folder that the emulator takes for
# the root of the file system: the program is linked as it is anywhere, loads MPFR and the pretend drivers of
# tests/fake, and is started by the cases in place of the native one. Then its bytes are compared with those of the native
# program of build (same_bytes.py). Everything is kept in build-cross-MACHINE.
#
#   tests/cross/commands.sh aarch64-linux-gnu qemu-aarch64
#   tests/cross/commands.sh s390x-linux-gnu qemu-s390x           big-endian
#   tests/cross/commands.sh i686-linux-gnu qemu-i386             32 bits; without the emulator where this machine can
#   tests/cross/commands.sh riscv64-linux-gnu qemu-riscv64 cast/ quant/     the cases with one of these in the name
set -eu
[ $# -ge 2 ] || { echo "usage: $0 TRIPLE EMULATOR [CASE...]" >&2; exit 2; }
triple=$1 emulator=$2
shift 2
cd "$(dirname "$0")/../.."
family=${triple%%-*} endian=little libraries=$triple suite=trixie arguments= link_arguments=
build=$PWD/build-cross-$family
root=$build/root
emulate="$emulator -L $root"

case $triple in
aarch64-*)
    architecture=arm64
    # signs return addresses by a function of qemu's own: the architecture's takes up to 9/10 of the time of a program
    emulate="$emulator -cpu max,pauth-impdef=on -L $root"
    ;;
s390x-*) architecture=s390x endian=big suite=bookworm ;;
i686-*)
    architecture=i386 libraries=i386-linux-gnu
    suite=bookworm                         # whose loader older emulators can start
    arguments="'-msse2', '-mfpmath=sse', '-Wno-psabi', " # no excess precision in doubles
    ;;
*) architecture=$family ;;
esac
if [ ! -f "$root/complete" ]; then
    # trixie, since older suites have no riscv64
    SUITE=$suite packaging/debian-libraries.sh "$architecture" "$root" libatomic1 libc6 libgcc-s1 libgmp10 libmpfr6
    [ -e "$root/lib" ] || ln -s usr/lib "$root/lib" # where the path of the loader begins
    for folder in dev proc sys; do # are opened from "/", which is the root as well
        ln -s "/$folder" "$root/$folder"
    done
    touch "$root/complete"
fi

# A machine that runs such programs itself needs no emulator, but to be told where their loader and libraries are.
loader=$root/lib/ld-linux.so.2 folders=$root/lib/$libraries:$root/usr/lib/$libraries
if [ "$architecture" = i386 ] && "$loader" --library-path "$folders" "$root/lib/$libraries/libc.so.6" >/dev/null 2>&1; then
    emulate="env"
    link_arguments="'-Wl,--dynamic-linker=$loader,-rpath=$folders,--disable-new-dtags', "
fi

# shellcheck disable=SC2086 # words
wrapper=$(printf "'%s', " $emulate)
cat >"$build/machine.ini" <<END
[binaries]
c = [$(command -v ccache >/dev/null && echo "'ccache', ")'$triple-gcc']
ar = '$triple-ar'
nm = '$triple-nm'
objdump = '$triple-objdump'
strip = '$triple-strip'
pkgconfig = 'pkg-config'
exe_wrapper = [$wrapper]

[built-in options]
c_args = [$arguments'-isystem', '$root/usr/include', '-isystem', '$root/usr/include/$libraries']
c_link_args = [$link_arguments'-L$root/usr/lib/$libraries']

[properties]
pkg_config_libdir = '$root/usr/lib/$libraries/pkgconfig'
sys_root = '$root'

[host_machine]
system = 'linux'
cpu_family = '$family'
cpu = '$family'
endian = '$endian'
END
[ -f "$build/build.ninja" ] ||
    meson setup "$build" --cross-file "$build/machine.ini" --buildtype=release -Doptimization=2 -Dwerror=true
ninja -C "$build" -t targets all | sed -n 's,^\(dtinfo\|tests/fake/[^/]*\.so[.0-9]*\): .*,\1,p' |
    xargs ninja -C "$build"
pretend=
[ ! -f "$build/tests/fake/libfake_cuda.so" ] || pretend=--pretend=$build/tests/fake # made where clang is
python3 tests/cli/run.py "$build/dtinfo" "$@" ${pretend:+"$pretend"} --wrapper "$emulate"
[ $# = 0 ] || exit 0
[ -x build/dtinfo ] || { echo "$0: build/dtinfo, the native program, is missing" >&2; exit 1; }
python3 tests/cross/same_bytes.py build/dtinfo "$build/dtinfo" --wrapper "$emulate"
