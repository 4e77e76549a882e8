#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Fills FOLDER with the static libraries and headers that packaging/wheels.py takes, from the packages that Debian has
# for an architecture. Nothing is installed, and nothing but FOLDER changes.
#
#   packaging/debian-libraries.sh arm64 build-arm64
#   packaging/wheels.py --target manylinux_2_17_aarch64 --libraries build-arm64/usr
set -eu
[ $# = 2 ] || { echo "usage: $0 ARCHITECTURE FOLDER" >&2; exit 2; }
mkdir -p "$2/lists/partial" "$2/cache/archives/partial" "$2/packages"
folder=$(cd "$2" && pwd)
: >"$folder/status"
cat >"$folder/apt.conf" <<END
APT::Architecture "$1";
APT::Architectures { "$1"; };
APT::Sandbox::User "root";
Dir::State "$folder";
Dir::State::status "$folder/status";
Dir::Cache "$folder/cache";
END
export APT_CONFIG="$folder/apt.conf"
apt-get update --quiet
cd "$folder/packages"
# the last has pyconfig.h of Debian's Python for that architecture, for the module
apt-get download zlib1g-dev libdeflate-dev nettle-dev libgmp-dev libmpfr-dev \
    "libpython$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')-dev"
for package in *.deb; do
    dpkg-deb -x "$package" "$folder"
done
