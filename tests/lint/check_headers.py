#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each header compiles alone, and twice in one file; an include guard is its path. usage: check_headers.py COMPILER..."""
import re
import subprocess
import sys

import tree


def main():
    compiler = sys.argv[1:]
    problems = []
    headers = [path for path in tree.files(".h")
               if tree.name_of(path).startswith(("include/", "src/"))]
    for path in headers:
        name = tree.name_of(path)
        spelled = name.split("/", 1)[1]
        guard = re.search(r"^#ifndef (\w+_H)\n", path.read_text(encoding="utf-8"), re.MULTILINE)
        if guard and guard.group(1) != re.sub(r"\W", "_", spelled).upper():
            problems.append("%s has the include guard %s" % (name, guard.group(1)))
        program = '#include "%s"\n#include "%s"\nextern int dti_not_empty;\n' % (spelled, spelled)
        done = subprocess.run(
            compiler + ["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Wpedantic",
                        "-Werror", "-fsyntax-only", "-I", str(tree.ROOT / "include"),
                        "-I", str(tree.ROOT / "src"), "-x", "c", "-"],
            input=program, stderr=subprocess.PIPE, universal_newlines=True)
        if done.returncode != 0:
            problems.append("%s does not compile alone:\n%s" % (name, done.stderr.rstrip()))
    return tree.report(problems, "headers, %d of them" % len(headers))


if __name__ == "__main__":
    sys.exit(main())
