#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every struct, union and enum tag is defined in one place, so that a tag means one thing everywhere."""
import re
import sys

import tree

# `struct tag {`, also with attributes between; not `struct tag x = {`, not `(struct tag){...}`.
TAG = re.compile(r"(?<!\()\b(?:struct|union|enum)\s+(?:(?:_Alignas|__attribute__)\s*\(+[^()]*\)+\s*)*"
                 r"(\w+)\s*\{")


def main():
    places = {}
    for path in tree.files(".c", ".h", ".cu", ".def"):
        name = tree.name_of(path)
        if not name.startswith(("src/", "include/")):
            continue
        text = tree.without_strings(tree.without_comments(path.read_text(encoding="utf-8")))
        for match in TAG.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            places.setdefault(match.group(1), []).append("%s:%d" % (name, line))
    problems = ["%s is defined more than once: %s" % (tag, ", ".join(found))
                for tag, found in sorted(places.items()) if len(found) > 1]
    if not places:
        problems.append("no tags found")
    return tree.report(problems, "%d tags" % len(places))


if __name__ == "__main__":
    sys.exit(main())
