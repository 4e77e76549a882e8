#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The ways through the source that CONTRIBUTING.md describes: files exist, and each walk follows the code."""
import re
import sys

import tree

PATH = re.compile(r"(?<![\w./`-])`((?:src|tests|tools|include|bench|docs|man)/[\w./*-]*[\w*])`")
STEP = re.compile(r"^(\d+)\. `(\w+)` in `([\w/]+\.c)`", re.MULTILINE)
MOST_STEPS = 24


def check_paths(name, text):
    for path in sorted(set(PATH.findall(text))):
        if not re.search(r"[/_-]x\b", path) and not any(tree.ROOT.glob(path)):
            yield "%s: there is no %s" % (name, path)


def held(text):
    """The functions that initializers of rows hold."""
    return set(re.findall(r"\.\w+ = (\w+)", text))


def check_walk(title, steps, rows):
    """rows: functions with linkage that rows of any file hold."""
    code = ""  # of the files so far
    for at, (number, function, path) in enumerate(steps, 1):
        where = "%s, step %d" % (title, at)
        if int(number) != at:
            yield "%s has the number %s" % (where, number)
        source = tree.ROOT / path
        text = tree.without_comments(source.read_text(encoding="utf-8")) if source.exists() else ""
        if not re.search(r"^\w[^\n;]*\b%s\([^;{]*\)\n\{" % function, text, re.MULTILINE):
            yield "%s: %s is not defined in %s" % (where, function, path)
        if at > 1 and not re.search(r"\b%s\b" % function, code) and function not in rows | held(text):
            yield "%s: no earlier file names %s, and no row holds it" % (where, function)
        code += text
    if not 5 <= len(steps) <= MOST_STEPS:
        yield "%s has %d steps" % (title, len(steps))


def main():
    problems = []
    text = (tree.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    problems += check_paths("CONTRIBUTING.md", text)
    walks = re.findall(r"^### (.*?)\n(.*?)(?=^##)", text.partition("## Four walks\n")[2].partition("\n## ")[0] + "\n## ",
                       re.MULTILINE | re.DOTALL)
    rows = {function for path in tree.files(".c") for function in held(path.read_text(encoding="utf-8")) if function.startswith("dti_")}
    for title, body in walks:
        problems += check_walk(title, STEP.findall(body), rows)
    if len(walks) != 4:
        problems.append("CONTRIBUTING.md has %d walks" % len(walks))
    return tree.report(problems, "walks, %d of them" % len(walks))


if __name__ == "__main__":
    sys.exit(main())
