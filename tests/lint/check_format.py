#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The C files are as clang-format 14 would write them. Other versions write differently: skipped."""
import re
import shutil
import subprocess
import sys

import tree

VERSION = "14"


def find_tool():
    for name in ("clang-format-" + VERSION, "clang-format"):
        tool = shutil.which(name)
        if not tool:
            continue
        said = subprocess.run([tool, "--version"], stdout=subprocess.PIPE,
                              universal_newlines=True).stdout
        if re.search(r"version %s\b" % VERSION, said):
            return tool
    return None


def main():
    tool = find_tool()
    if not tool:
        print("clang-format %s is not here" % VERSION)
        return tree.SKIPPED
    paths = tree.files(".c", ".h")
    done = subprocess.run([tool, "--dry-run", "-Werror", "--style=file"] + [str(p) for p in paths],
                          stderr=subprocess.PIPE, universal_newlines=True, cwd=str(tree.ROOT))
    problems = [line.replace(str(tree.ROOT) + "/", "") for line in done.stderr.splitlines()
                if ": error:" in line]
    if done.returncode != 0 and not problems:
        problems = [done.stderr]
    return tree.report(problems, "format, %d files" % len(paths))


if __name__ == "__main__":
    sys.exit(main())
