#!/bin/sh
# SPDX-License-Identifier: MIT
# Run by `meson dist`: the source tarball states its commit, for `dtinfo --version -v` of what is built from it.
set -eu
git -C "$MESON_SOURCE_ROOT" rev-parse --short=12 HEAD >"$MESON_DIST_ROOT/commit.txt"
