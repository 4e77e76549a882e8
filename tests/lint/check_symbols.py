#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""External symbols of the static libraries carry the project's prefix, and a function that one source file alone uses
is static in it. usage: check_symbols.py NM LIB..."""
import collections
import re
import subprocess
import sys

import tree

# What a sanitizer adds to every object.
SANITIZER = re.compile(r"__(odr_)?(asan|ubsan|msan|tsan|sancov|start___sanc|stop___sanc)")


def used_once(symbols):
    """Of symbols that no object needs of another: those that a header declares and one source file alone names."""
    sources, headers = collections.defaultdict(set), set()
    for path in tree.files(".c", ".h", ".def"):
        for word in set(re.findall(r"\bdti_\w+", path.read_text(encoding="utf-8"))) & symbols:
            if tree.name_of(path).startswith("include/"):
                sources[word].add("a program")
            elif path.suffix == ".h":
                headers.add(word)
            else:
                sources[word].add(tree.name_of(path))
    for word in sorted(headers):
        if len(sources[word]) == 1 and not word.startswith("dti_put_"):  # which rows of answers make
            yield "%s: %s is used in no other file: make it static" % (*sources[word], word)


def main():
    nm, libraries = sys.argv[1], sys.argv[2:]
    problems, symbols, needed = [], set(), set()
    for library in libraries:
        listing = subprocess.run([nm, "-g", library], stdout=subprocess.PIPE,
                                 universal_newlines=True, check=True).stdout
        member = library
        for line in listing.splitlines():
            if line.endswith(":"):
                member = line[:-1]
            fields = line.split()
            if len(fields) == 2:
                needed.add(fields[1])
            if len(fields) != 3:
                continue
            name = fields[2]
            symbols.add(name)
            if not (name.startswith("dti_") or name == "main" or SANITIZER.match(name)):
                problems.append("%s: external symbol %s has no dti_ prefix" % (member, name))
    problems += used_once(symbols - needed)
    if not symbols:
        problems.append("nm showed no symbol at all")
    return tree.report(problems, "symbols, %d of them" % len(symbols))


if __name__ == "__main__":
    sys.exit(main())
