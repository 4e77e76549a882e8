#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Fills FOLDER with the static libraries and headers that packaging/wheels.py takes, from the packages that Debian has
# for an architecture. Nothing is installed, and nothing but FOLDER changes.
#
#   packaging/debian-libraries.sh arm64 build-arm64
#   packaging/wheels.py --target manylinux_2_17_aarch64 --libraries build-arm64/usr
#
# tests/cross/commands.sh names what else it needs, in place of Python's headers, and with SUITE in the environment
# Debian's suite to take all from, for architectures that this machine's own suite does not have:
#
#   SUITE=trixie packaging/debian-libraries.sh riscv64 build-riscv64 libc6 libmpfr6
set -eu
[ $# -ge 2 ] || { echo "usage: $0 ARCHITECTURE FOLDER [PACKAGE...]" >&2; exit 2; }
architecture=$1
mkdir -p "$2/lists/partial" "$2/cache/archives/partial" "$2/packages"
folder=$(cd "$2" && pwd)
shift 2
: >"$folder/status"
cat >"$folder/apt.conf" <<END
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Sandbox::User "root";
Dir::State "$folder";
Dir::State::status "$folder/status";
Dir::Cache "$folder/cache";
END
if [ -n "${SUITE:-}" ]; then
    keys=/usr/share/keyrings/debian-archive-keyring.gpg
    # from where this machine has its own packages; apt expands $(SITE)
    # shellcheck disable=SC2016
    site=$(apt-get indextargets --format '$(SITE)' 'Component: main' | grep -v -- -security | head -n 1)
    [ -n "$site" ] || { echo "apt has no lists yet: run apt-get update first" >&2; exit 1; }
    echo "deb [signed-by=$keys] $site $SUITE main" >"$folder/sources"
    cat >>"$folder/apt.conf" <<END
Dir::Etc::sourcelist "$folder/sources";
Dir::Etc::sourceparts "/dev/null";
END
fi
export APT_CONFIG="$folder/apt.conf"
apt-get update --quiet
cd "$folder/packages"
# pyconfig.h of Debian's Python for that architecture, for the module
[ $# -gt 0 ] || set -- "libpython$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')-dev"
apt-get download zlib1g-dev libdeflate-dev nettle-dev libgmp-dev libmpfr-dev "$@"
for package in *.deb; do
    dpkg-deb -x "$package" "$folder"
done
