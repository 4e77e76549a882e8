#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Builds what people install, from the last commit. Twice built, each file has the same bytes: sources, paths and times
# come from the commit, and from nothing else of this machine but its compiler and libraries.
#
#   packaging/build.sh all                    everything below, then SHA256SUMS; into build-packages
#   packaging/build.sh source                 dtinfo-VERSION.tar.xz, which builds without git
#   packaging/build.sh static static:aarch64  dtinfo-VERSION-linux-ARCH.tar.xz: a program that needs nothing, with its manual
#   packaging/build.sh deb                    dtinfo_VERSION-1_ARCH.deb
#   packaging/build.sh image                  dtinfo-VERSION-oci-ARCH.tar: the static program alone, for podman and docker
#   packaging/build.sh recipes --url BASE     for Homebrew, conda-forge and Nix; BASE is where the source will be
#   packaging/build.sh sbom                   dtinfo-VERSION-linux-ARCH.spdx.json: what is in the static program
#   packaging/build.sh sums                   SHA256SUMS of what is there; docs/install.md says how it is signed
#
# Each one needs `source`, which is made where it is missing; image and sbom need `static`. --out FOLDER names another
# folder. What is needed beyond README.md: for static:aarch64 gcc-aarch64-linux-gnu and libc6-dev-arm64-cross; for deb
# debhelper, and lintian judges it where it is; for image buildah. Wheels: packaging/wheels.py.
set -eu
usage() { sed -n '3,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
fail() { echo "build.sh: $*" >&2; exit 1; }
need() { command -v "$1" >/dev/null || fail "$1 is missing: install $2"; }

cd "$(dirname "$0")/.."
root=$PWD out=$PWD/build-packages url='' wanted=()
while [ $# -gt 0 ]; do
    case $1 in
    --out) [ $# -ge 2 ] || usage; mkdir -p "$2"; out=$(cd "$2" && pwd); shift ;;
    --url) [ $# -ge 2 ] || usage; url=${2%/}; shift ;;
    all) wanted+=(source static static:aarch64 deb image sbom recipes sums) ;;
    source | static | static:aarch64 | static:x86_64 | deb | image | recipes | sbom | sums) wanted+=("$1") ;;
    *) usage ;;
    esac
    shift
done
[ ${#wanted[@]} -gt 0 ] || usage
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
name=dtinfo-$version
here=$(uname -m)
work=$out/work
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} LC_ALL=C TZ=UTC
umask 022

# pack FOLDER FILE: FOLDER's last part is the name that the members begin with.
pack() {
    tar -C "$(dirname "$1")" --sort=name --format=ustar --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --mode=u+w,go-w -cf - "$(basename "$1")" | xz -9 -T1 >"$2.part"
    mv "$2.part" "$2"
    echo "$2"
}

make_source() {
    local dist=$work/dist
    rm -rf "$dist" && mkdir -p "$dist"
    git diff --quiet HEAD || fail "the tree has changes that are not committed"
    meson setup "$dist/build" "$root" -Dcli=false >"$dist/log"
    meson dist -C "$dist/build" --no-tests --formats xztar >>"$dist/log" 2>&1 || { cat "$dist/log" >&2; exit 1; }
    tar -C "$dist" -xf "$dist/build/meson-dist/$name.tar.xz"
    pack "$dist/$name" "$out/$name.tar.xz"
}

# Unpacks the source into $1.
unpack() {
    [ -f "$out/$name.tar.xz" ] || make_source
    rm -rf "$1" && mkdir -p "$1"
    tar -C "$1" --strip-components=1 -xf "$out/$name.tar.xz"
}

# Debian's static libraries of another architecture, and a file for Meson that names its compiler.
cross_file() {
    local architecture=$1 triple=$1-linux-gnu libraries=$work/libraries-$1 debian=arm64
    need "$triple-gcc" "gcc-$architecture-linux-gnu"
    [ -f "$libraries/complete" ] || packaging/debian-libraries.sh "$debian" "$libraries" libc6 >"$work/libraries.log" 2>&1 ||
        fail "the libraries of $debian cannot be had: see $work/libraries.log"
    touch "$libraries/complete"
    cat >"$work/$architecture.ini" <<END
[binaries]
c = $(command -v ccache >/dev/null && echo "['ccache', '$triple-gcc']" || echo "'$triple-gcc'")
ar = '$triple-ar'
strip = '$triple-strip'
pkgconfig = 'pkg-config'

[built-in options]
c_args = ['-isystem', '$libraries/usr/include', '-isystem', '$libraries/usr/include/$triple']
c_link_args = ['-L$libraries/usr/lib/$triple']

[properties]
pkg_config_libdir = '$libraries/usr/lib/$triple/pkgconfig'
sys_root = '$libraries'
needs_exe_wrapper = true

[host_machine]
system = 'linux'
cpu_family = '$architecture'
cpu = '$architecture'
endian = 'little'
END
}

# The texts of the licences of what is linked in.
notices() {
    local prefix=$1 to=$2 pair
    mkdir -p "$to"
    for pair in zlib:zlib1g-dev libdeflate:libdeflate-dev nettle:nettle-dev glibc:libc6; do
        cp "$prefix/share/doc/${pair##*:}/copyright" "$to/${pair%%:*}.txt" || fail "no text of the licence of ${pair%%:*}"
    done
}

make_static() {
    local architecture=${1:-$here} options=() prefix=/usr
    local build=$work/static-$architecture folder=$work/$name-linux-$architecture
    unpack "$build/source"
    if [ "$architecture" != "$here" ]; then
        cross_file "$architecture"
        options=(--cross-file "$work/$architecture.ini")
        prefix=$work/libraries-$architecture/usr
    fi
    if ! { meson setup "$build/build" "$build/source" --prefix=/usr --buildtype=release -Doptimization=2 -Dstatic_program=true \
        -Dtests=false -Dcuda=disabled -Dman=enabled "${options[@]}" && ninja -C "$build/build"; } >"$build/log" 2>&1; then
        tail -n 20 "$build/log" | cut -c 1-300 >&2
        fail "the build failed; its whole output is in $build/log"
    fi
    rm -rf "$folder" && mkdir -p "$folder"
    DESTDIR=$build/stage meson install -C "$build/build" --no-rebuild --strip >>"$build/log"
    mv "$build/stage/usr/bin" "$build/stage/usr/share" "$folder/"
    cp LICENSE "$folder/"
    notices "$prefix" "$folder/licenses"
    pack "$folder" "$out/$(basename "$folder").tar.xz"
}

make_deb() {
    local build=$work/deb
    need dpkg-buildpackage "dpkg-dev and debhelper"
    unpack "$build/$name"
    cp "$out/$name.tar.xz" "$build/dtinfo_$version.orig.tar.xz"
    cp -r packaging/debian "$build/$name/debian"
    (cd "$build/$name" && DEB_BUILD_OPTIONS="nocheck noautodbgsym ${DEB_BUILD_OPTIONS:-}" dpkg-buildpackage -us -uc) \
        >"$build/log" 2>&1 || { tail -n 20 "$build/log" | cut -c 1-300 >&2; fail "the build failed; its whole output is in $build/log"; }
    cp "$build"/dtinfo_"$version"-*.deb "$build"/dtinfo_"$version"-*.dsc "$build"/dtinfo_"$version"-*.debian.tar.xz \
        "$build/dtinfo_$version.orig.tar.xz" "$out/"
    ls "$out"/dtinfo_"$version"-*.deb
    if command -v lintian >/dev/null; then
        lintian --allow-root --fail-on error "$out"/dtinfo_"$version"-*.deb || fail "lintian has errors"
    else
        echo "build.sh: lintian, which is not installed, judged nothing" >&2
    fi
}

# An image of the static program, from nothing.
make_image() {
    local architecture=${1:-$here} folder=$work/$name-linux-${1:-$here} container image
    need buildah buildah
    [ -d "$folder" ] || make_static "$architecture"
    local store=(buildah --root "$work/images" --runroot "$work/images-run" --storage-driver vfs)
    container=$("${store[@]}" from scratch)
    "${store[@]}" copy --quiet "$container" "$folder/bin/dtinfo" /usr/bin/dtinfo >/dev/null
    "${store[@]}" copy --quiet "$container" "$folder/LICENSE" "$folder/licenses" /usr/share/doc/dtinfo/ >/dev/null
    "${store[@]}" config --entrypoint '["/usr/bin/dtinfo"]' --workingdir / --arch "${architecture/x86_64/amd64}" --cmd '' \
        --label "org.opencontainers.image.version=$version" --label org.opencontainers.image.licenses=MIT "$container"
    image=$("${store[@]}" commit --quiet --rm --timestamp "$SOURCE_DATE_EPOCH" "$container")
    rm -f "$out/$name-oci-$architecture.tar"
    rm -rf "$work/oci" && "${store[@]}" push --quiet "$image" "oci:$work/oci:$version"
    tar -C "$work/oci" --sort=name --format=ustar --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --mode=u+w,go-w -cf "$out/$name-oci-$architecture.tar" .
    echo "$out/$name-oci-$architecture.tar"
}

# Recipes name the source by its address and digest.
make_recipes() {
    local digest file
    [ -f "$out/$name.tar.xz" ] || make_source
    [ -n "$url" ] || { url=https://example.invalid/dtinfo; echo "build.sh: --url is missing: the recipes have $url" >&2; }
    digest=$(sha256sum "$out/$name.tar.xz" | cut -d' ' -f1)
    mkdir -p "$out/recipes"
    for file in packaging/recipes/*.in; do
        sed -e "s|@URL@|$url/$name.tar.xz|; s|@HOME@|$url|; s|@SHA256@|$digest|; s|@VERSION@|$version|" "$file" \
            >"$out/recipes/$(basename "$file" .in)"
        echo "$out/recipes/$(basename "$file" .in)"
    done
}

make_sbom() {
    local architecture=${1:-$here}
    [ -f "$out/$name-linux-$architecture.tar.xz" ] || make_static "$architecture"
    packaging/sbom.py "$work/$name-linux-$architecture/bin/dtinfo" "$out/$name-linux-$architecture.tar.xz" \
        >"$out/$name-linux-$architecture.spdx.json"
    echo "$out/$name-linux-$architecture.spdx.json"
}

make_sums() {
    (cd "$out" && find . -maxdepth 2 -type f ! -path './work/*' ! -name 'SHA256SUMS*' -printf '%P\n' | sort | xargs -d '\n' sha256sum) \
        >"$out/SHA256SUMS"
    echo "$out/SHA256SUMS"
}

mkdir -p "$work"
for what in "${wanted[@]}"; do
    case $what in
    *:*) "make_${what%%:*}" "${what##*:}" ;;
    *) "make_$what" ;;
    esac
done
