#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""External symbols of the static libraries carry the project's prefix. usage: check_symbols.py NM LIB..."""
import re
import subprocess
import sys

import tree

# What a sanitizer adds to every object.
SANITIZER = re.compile(r"__(odr_)?(asan|ubsan|msan|tsan|sancov|start___sanc|stop___sanc)")


def main():
    nm, libraries = sys.argv[1], sys.argv[2:]
    problems, seen = [], 0
    for library in libraries:
        listing = subprocess.run([nm, "-g", "--defined-only", library], stdout=subprocess.PIPE,
                                 universal_newlines=True, check=True).stdout
        member = library
        for line in listing.splitlines():
            if line.endswith(":"):
                member = line[:-1]
            fields = line.split()
            if len(fields) != 3:
                continue
            seen += 1
            name = fields[2]
            if not (name.startswith("dti_") or name == "main" or SANITIZER.match(name)):
                problems.append("%s: external symbol %s has no dti_ prefix" % (member, name))
    if seen == 0:
        problems.append("nm showed no symbol at all")
    return tree.report(problems, "symbols, %d of them" % seen)


if __name__ == "__main__":
    sys.exit(main())
