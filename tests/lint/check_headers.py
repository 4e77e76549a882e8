#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each header compiles alone, and twice in one file. usage: check_headers.py COMPILER..."""
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
