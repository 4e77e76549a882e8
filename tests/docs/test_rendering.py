#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the rendered man pages: mandoc and groff report no problems, and no line is wider than a terminal
of 80 columns. Missing tools are reported as skipped.

    test_rendering.py FOLDER     of the pages that the build made
"""

import pathlib
import re
import shutil
import subprocess
import sys

import pages

COLUMNS = 80
# scdoc copies lines of its source unchanged, and ours have up to 100 columns.
INEVITABLE = ["input text line longer than 80 bytes"]
MARKUP = re.compile(r"(?<![\w\\])_[A-Z]+_[a-z]|(?<![\w\\])\*[\w-]+\*[a-z]")


def groff_can():
    """Whether man and groff work: minimal container images have a stub for man."""
    if not shutil.which("man"):
        return False
    done = subprocess.run(["man", "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout.startswith(b"man ") and shutil.which("groff") is not None


def check_mandoc(judge, page):
    done = subprocess.run(["mandoc", "-T", "lint", str(page)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8")
    for line in done.stdout.splitlines():
        judge.check(any(known in line for known in INEVITABLE), line)
    judge.check(done.stdout.count("\n") < 10000, f"{page.name}: mandoc prints without end")


def check_man(judge, page):
    environment = pages.plain_environment(sys.argv[0], MANWIDTH=str(COLUMNS), MANPAGER="cat",
                                          LC_ALL="C.UTF-8")
    done = subprocess.run(["man", "--warnings", "-l", str(page)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8", env=environment)
    judge.check(done.returncode == 0 and not done.stderr, f"{page.name}: man says {done.stderr}")
    judge.check("NAME\n" in done.stdout, f"{page.name}: man shows no page")
    split = [line for line in done.stdout.splitlines() if line.endswith("\u2010")]
    judge.check(not split, f"{page.name}: words are hyphenated: {split}")
    wide = [line for line in done.stdout.splitlines() if len(line) > COLUMNS]
    judge.check(not wide, f"{page.name}: wider than {COLUMNS} columns:\n" + "\n".join(wide))


def main():
    judge = pages.Judge()
    for path in pages.MAN:
        source = pages.Page(path)
        for number, line in enumerate(source.lines, 1):
            judge.check(not MARKUP.search(line), f"{path.name}:{number}: an open mark in '{line}'")
    made = sorted(path for path in pathlib.Path(sys.argv[1]).iterdir() if path.suffix in (".1", ".5", ".7"))
    if not made:
        print("skipped: the build made no pages, for want of scdoc")
    for tool, there, check in (("mandoc", shutil.which("mandoc"), check_mandoc),
                               ("man", groff_can(), check_man)):
        if not there:
            print(f"skipped: no {tool}")
            continue
        for page in made:
            check(judge, page)
    status = judge.finish(at_least=1000)
    return status if status or made and shutil.which("mandoc") and groff_can() else 77


if __name__ == "__main__":
    sys.exit(main())
