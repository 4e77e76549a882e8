#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Text hygiene: tabs, trailing blanks, last newlines, odd characters, licence lines, subnormal constants."""
import re
import sys

import tree

BINARY = (".bin", ".npy", ".pt", ".safetensors", ".onnx", ".data", ".png", ".gz")
# Recorded output and fuzzer seeds are what they are.
RECORDED = re.compile(r"tests/(cli/[^/]+/.*\.(stdout|stderr)(\.glob)?|fuzz/seeds/.*|data/machines/.*\.(txt|golden))$")
TABS_ALLOWED = re.compile(r".*\.tsv$|man/.*\.(scd|[1-9])$|docs/vectors\.md$|(.*/)?Makefile$|completions/_dtinfo$")
# Texts for readers may name people and quote output; programs stay ASCII.
NON_ASCII_ALLOWED = re.compile(r".*\.md$|tests/cli/.*|tests/unit/test_(quote|utf8|json|table)\.c$"
                               r"|tests/data/.*|docs/.*\.svg$|LICENSE$")
INVISIBLE = re.compile("[\u00a0\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f"
                       "\ufeff\ufff9-\ufffb]")
HEXFLOAT = re.compile(r"\b0x[0-9a-fA-F.]+p[+-]?\d+[fF]?\b")
SPDX_C = "/* SPDX-License-Identifier: MIT"
SPDX_SCRIPT = "# SPDX-License-Identifier: MIT"


def check_lines(name, text):
    if text and not text.endswith("\n"):
        yield "%s: the last line has no end" % name
    if text.endswith("\n\n"):
        yield "%s: blank lines at the end" % name
    for number, line in enumerate(text.split("\n"), 1):
        where = "%s:%d" % (name, number)
        if line.endswith((" ", "\t", "\r")):
            yield "%s: trailing blank" % where
        if "\t" in line and not TABS_ALLOWED.match(name):
            yield "%s: tab" % where
        if INVISIBLE.search(line):
            yield "%s: invisible character" % where
        if not line.isascii() and not NON_ASCII_ALLOWED.match(name):
            yield "%s: not ASCII" % where


def check_opening(name, text):
    lines = text.split("\n")
    if name.endswith((".c", ".h")) and lines[0] != SPDX_C:
        yield "%s: the first line is not '%s'" % (name, SPDX_C)
    if name.endswith(".py") or lines[0].startswith("#!"):
        if SPDX_SCRIPT not in lines[:2]:
            yield "%s: '%s' is not among the first two lines" % (name, SPDX_SCRIPT)


def check_constants(name, text):
    """Arithmetic with subnormal numbers takes many times as long on some processors."""
    for match in HEXFLOAT.finditer(text):
        spelled = match.group()
        least = 2.0 ** (-126 if spelled[-1] in "fF" else -1022)
        if 0 < float.fromhex(spelled.rstrip("fF")) < least:
            yield "%s: the constant %s is subnormal" % (name, spelled)


def main():
    problems, count = [], 0
    stems = {}
    for path in tree.files():
        name = tree.name_of(path)
        if name.endswith(BINARY) or RECORDED.match(name):
            continue
        count += 1
        try:
            text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            problems.append("%s: not UTF-8" % name)
            continue
        problems += check_lines(name, text)
        problems += check_opening(name, text)
        if name.startswith("src/"):
            problems += check_constants(name, text)
        if name.endswith((".c", ".h")) and not name.startswith("include/"):
            other = stems.setdefault(path.name, name)
            if other != name:
                problems.append("%s: another file has this name: %s" % (name, other))
    return tree.report(problems, "text, %d files" % count)


if __name__ == "__main__":
    sys.exit(main())
