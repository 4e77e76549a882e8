#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No line is wider than the page: reruns every command of every golden case with --width 80 and, in the long suite,
with --width 120. With DTI_TEST_QUICK in the environment every tenth case.

A line may be wider only if it holds a number that no page of this width could hold, or if it is machine-readable:
JSON, sha256sums, completion scripts. Each number on a narrow page also appears in the full answer, unbroken.

    test_command_widths.py build/dtinfo [--pretend FOLDER] [--long] [cases]
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import sys
import tempfile
import unicodedata

import run

# Machine-readable output, and the line that lists missing columns.
FOR_PROGRAMS = re.compile(rb"(\{|\[?\"|[0-9a-f]{64}  | *not shown: )")
SCRIPTS = ("completion", "__complete", "__introspect")
DATA = 1 << 18  # bytes: larger outputs are numbers, one per line
FOLDERS = re.compile(rb"/tmp/dtinfo-case-\w+")
STYLES = re.compile(rb"\x1b\[[0-9;]*m")

WRAPPER = """#!/bin/sh
at="%(log)s/$$"
printf '%%s\\n' "$@" >"$at.args"
"%(program)s" %(option)s "$@" >"$at.out"
code=$?
cat "$at.out"
exit $code
"""


def columns(line):
    """Terminal columns, from Unicode's own tables."""
    total = 0
    for character in line:
        if unicodedata.combining(character) or unicodedata.category(character) == "Cf":
            continue
        total += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return total


def is_too_wide(line, width):
    """Wider than the page, and not because of a number that no page of this width could hold after a label."""
    text = line.decode("utf-8", "replace")
    numbers = [columns(word) for word in text.split() if re.fullmatch(r"[0-9a-fA-FxXpP+\-.,:;()\[\]%]+", word)]
    return columns(text) > width and max(numbers, default=0) <= width - width // 3


def answers(script, program, option, pretend):
    """The output of each command of a case: {words: [output]}."""
    with tempfile.TemporaryDirectory(prefix="dtinfo-widths-") as folder:
        bin_folder, log = pathlib.Path(folder, "bin"), pathlib.Path(folder, "log")
        bin_folder.mkdir(), log.mkdir()
        entry = bin_folder / "dtinfo"
        entry.write_text(WRAPPER % {"log": log, "program": program, "option": option})
        entry.chmod(0o755)
        run.run_case(script, "%s:/usr/bin:/bin" % bin_folder, pretend, run.TIMEOUT_SECONDS)
        found = collections.defaultdict(list)
        # in the order of the commands: times may be equal, and then the names, which are process IDs, rise
        for args in sorted(log.glob("*.args"), key=lambda path: (path.stat().st_mtime_ns, int(path.stem))):
            out = args.with_suffix(".out")
            found[args.read_bytes()].append(out.read_bytes() if out.exists() else b"")
    return found


def lines_of(answer):
    return [line for line in FOLDERS.sub(b"FOLDER", STYLES.sub(b"", answer)).split(b"\n")
            if not FOR_PROGRAMS.match(line)]


def numbers_in(lines):
    return {word for line in lines for word in line.split() if re.search(rb"\d", word)}


def judge(name, words, full, narrow, width, of_machine):
    """What is wrong with a page, one problem per line, and how many lines were checked."""
    command = [word for word in words.decode("utf-8", "replace").split("\n") if not word.startswith("-")][0]
    data = b"\n-o\n-\n" in b"\n" + words + b"\n"
    if b"\0" in narrow or len(narrow) > DATA or data or command in SCRIPTS:
        return [], 0
    lines = lines_of(narrow)
    wrong = ["%s: wider than %d: %s" % (name, width, line.decode("utf-8", "replace"))
             for line in lines if len(line) > width and is_too_wide(line, width)]
    if not of_machine:
        wrong += ["%s: not in the full answer, at %d: %s" % (name, width, word.decode("utf-8", "replace"))
                  for word in sorted(numbers_in(lines) - numbers_in(lines_of(full))) if b"..." not in word]
    return wrong, len(lines)


def judge_case(script, program, pretend, widths):
    name = "%s/%s" % (script.parent.name, script.stem)
    of_machine = script.parent.name == "bench" or run.sibling(script, ".stdout.glob").exists()
    full = answers(script, program, "--wide", pretend)
    wrong, lines = [], 0
    for width in widths:
        for words, pages in answers(script, program, "--width %d" % width, pretend).items():
            for whole, page in zip(full.get(words, []), pages):
                found, count = judge(name, words, whole, page, width, of_machine)
                wrong += found
                lines += count
    return wrong, lines


def main():
    parser = argparse.ArgumentParser(description="no line is wider than the page")
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("filters", nargs="*", help="the cases whose name contains one of these")
    parser.add_argument("--pretend", type=pathlib.Path, help="the folder of the pretend libraries")
    parser.add_argument("--long", action="store_true", help="120 columns as well")
    options = parser.parse_args()
    widths = (80, 120) if options.long else (80,)
    scripts = [script for script in sorted(run.HERE.glob("*/*.sh"))
               if not run.lacks(script, options.pretend, options.program.resolve(), "")
               and not re.search(r"--wid(e|th)|/dev/full", script.read_text())
               and (not options.filters or any(word in "%s/%s" % (script.parent.name, script.stem)
                                               for word in options.filters))]
    if "DTI_TEST_QUICK" in os.environ and not options.long:
        scripts = scripts[::50]
    wrong, lines = [], 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found, count in pool.map(lambda s: judge_case(s, options.program.resolve(), options.pretend, widths),
                                     scripts):
            wrong += found
            lines += count
    for line in wrong:
        print(line)
    print("%d cases, %d lines, %d wrong" % (len(scripts), lines, len(wrong)))
    return 1 if wrong or lines == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
