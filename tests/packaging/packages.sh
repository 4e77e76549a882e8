#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Builds the packages of packaging/build.sh twice, from two clones in folders of their own, compares their bytes, and uses
# each where people would: the static programs in a folder that holds nothing else (that for other machines under
# qemu-user), the Debian package in bare roots of Debian 12 and 13, where it is installed, upgraded and removed, the
# source without git. As root; takes half an hour. Exits with 77 where a compiler or a tool of packages is missing.
#
#   tests/packaging/packages.sh [FOLDER]       FOLDER keeps what was built (default: a temporary one)
set -eu
cd "$(dirname "$0")/../.."
for tool in git xz readelf sha256sum aarch64-linux-gnu-gcc qemu-aarch64 dpkg-buildpackage lintian debootstrap; do
    command -v "$tool" >/dev/null || { echo "$tool is missing: nothing was tested"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "not root: nothing was tested"; exit 77; }
folder=${1:-$(mktemp -d)}
mkdir -p "$folder" && folder=$(cd "$folder" && pwd)
[ $# -gt 0 ] || trap 'rm -rf "$folder"' EXIT
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
here=$(uname -m)
wanted=(source static static:aarch64 deb sbom recipes)
command -v buildah >/dev/null && wanted+=(image)
failures=0
check() { # check WORDS COMMAND...
    local words=$1
    shift
    if "$@" >"$folder/output" 2>&1; then
        echo "ok    $words"
    else
        echo "FAIL  $words"
        tail -n 20 "$folder/output" | cut -c 1-300
        failures=$((failures + 1))
    fi
}

for copy in one another/deeper; do # of the same commit, whatever is committed meanwhile
    rm -rf "${folder:?}/$copy"
    git clone -q . "$folder/$copy"
done
for copy in one another/deeper; do
    check "built in $copy" "$folder/$copy/packaging/build.sh" "${wanted[@]}" sums --out "$folder/$copy-out"
done
one=$folder/one-out another=$folder/another/deeper-out
check "the same bytes twice" diff "$one/SHA256SUMS" "$another/SHA256SUMS"
check "digests" sh -c "cd '$one' && sha256sum --quiet --check SHA256SUMS"

# empty ARCHITECTURE EMULATOR: the static program in a root with nothing else
empty() {
    local root=$folder/empty-$1 emulator=${2:-}
    rm -rf "$root" && mkdir -p "$root"
    tar -C "$root" --strip-components=1 -xf "$one/dtinfo-$version-linux-$1.tar.xz"
    cp docs/sample/model.safetensors "$root/"
    if readelf -lW "$root/bin/dtinfo" | grep INTERP; then return 1; fi
    [ -z "$emulator" ] || cp "$(command -v "$emulator-static" || command -v "$emulator")" "$root/emulator"
    run() {
        if [ -n "$emulator" ]; then (cd "$root" && "$emulator" bin/dtinfo "$@"); else chroot "$root" /bin/dtinfo "$@"; fi
    }
    local model=/model.safetensors
    [ -z "$emulator" ] || model=model.safetensors
    [ "$(run cast -q 70000 bf16)" = 70144 ] && run check "$model" --no-nan &&
        run quant "$model" nvfp4 -o "${model%.safetensors}-q.safetensors" -q && run check "${model%.safetensors}-q.safetensors" --quantized &&
        run --version -v | grep -q "commit     $(git rev-parse --short=12 HEAD)" && [ -s "$root/share/man/man1/dtinfo.1" ]
}
check "static, $here, in an empty root" empty "$here"
check "static, aarch64, emulated" empty aarch64 qemu-aarch64

# What people download: at most 4 MB each.
small() {
    [ -z "$(find "$one" -maxdepth 1 -type f -size +4000000c -print | tee /dev/stderr)" ]
}
check "the size of each package" small

without_git() {
    rm -rf "$folder/source" && mkdir "$folder/source" && tar -C "$folder/source" --strip-components=1 -xf "$one/dtinfo-$version.tar.xz"
    (cd "$folder/source" && GIT_DIR=/nowhere meson setup build -Dman=disabled && ninja -C build dtinfo && build/dtinfo --version)
}
check "source without git" without_git

# As users do: installed, upgraded to a later version, removed; nothing is left.
# shellcheck disable=SC2016 # apt expands $(SITE)
site=$(apt-get indextargets --format '$(SITE)' 'Component: main' | grep -v -- -security | head -n 1)
later() {
    rm -rf "$folder/later" && dpkg-deb -R "$one"/dtinfo_"$version"-1_*.deb "$folder/later"
    sed -i "s/^Version: .*/Version: $version-2/" "$folder/later/DEBIAN/control"
    dpkg-deb --root-owner-group -b "$folder/later" "$folder/later.deb"
}
bare_root() {
    local root=$folder/$1
    rm -rf "$root"
    debootstrap --variant=minbase "$1" "$root" "$site" || return 1
    cp "$one"/dtinfo_"$version"-1_*.deb "$root/first.deb" && cp "$folder/later.deb" "$root/later.deb" && cp docs/sample/model.safetensors "$root/"
    cp /etc/resolv.conf "$root/etc/" && cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/" && chroot "$root" apt-get update
    inside() { chroot "$root" env DEBIAN_FRONTEND=noninteractive "$@"; }
    inside apt-get install -y --no-install-recommends /first.deb && [ "$(inside dtinfo cast -q 70000 bf16)" = 70144 ] &&
        inside dtinfo check /model.safetensors --no-nan && inside dtinfo quant /model.safetensors nvfp4 -o /q.safetensors -q &&
        inside apt-get install -y --no-install-recommends /later.deb && inside dpkg -s dtinfo | grep "^Version: $version-2" &&
        inside apt-get purge -y dtinfo && [ -z "$(inside find / -xdev -name '*dtinfo*' -not -path '/proc/*')" ]
}
check "a later package" later
check "Debian 12: install, upgrade, remove" bare_root bookworm
check "Debian 13: install, upgrade, remove" bare_root trixie
command -v nix-instantiate >/dev/null && check "Nix recipe" nix-instantiate --parse "$one/recipes/package.nix"
command -v ruby >/dev/null && check "Homebrew recipe" ruby -c "$one/recipes/dtinfo.rb"
command -v pyspdxtools >/dev/null && check "SBOM" pyspdxtools -i "$one/dtinfo-$version-linux-$here.spdx.json"
[ "$failures" = 0 ]
