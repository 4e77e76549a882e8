#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shell scripts pass shellcheck, Python scripts compile."""
import ast
import shutil
import subprocess
import sys

import tree


def shell_scripts():
    for path in tree.files():
        name = tree.name_of(path)
        with path.open("rb") as file:
            first = file.readline()
        if name.endswith(".sh") or (first.startswith(b"#!") and first.rstrip().endswith(b"sh")):
            yield path
        elif name == "completions/dtinfo.bash":
            yield path


def main():
    problems = []
    for path in tree.files(".py"):
        try:
            ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))
        except SyntaxError as error:
            problems.append("%s:%s: %s" % (tree.name_of(path), error.lineno, error.msg))
    tool = shutil.which("shellcheck")
    if not tool:
        if tree.report(problems, "Python scripts"):
            return 1
        print("shellcheck is not here")
        return tree.SKIPPED
    # SC1007, SC2016: cases write `VAR= dtinfo` and quote dollars on purpose; SC1097: `+==` appends;
    # SC1091: what they source is checked by itself; SC2148: cases are run by sh
    paths = list(shell_scripts())
    done = subprocess.run([tool, "--format=gcc", "--exclude=SC1007,SC1091,SC1097,SC2016,SC2148", "--shell=bash"]
                          + [tree.name_of(path) for path in paths], cwd=str(tree.ROOT),
                          stdout=subprocess.PIPE, universal_newlines=True)
    problems += done.stdout.splitlines()
    return tree.report(problems, "scripts, %d for a shell" % len(paths))


if __name__ == "__main__":
    sys.exit(main())
