#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Claims in the documents about other programs: each sentence of tests/data/claims.tsv is still present, and the
program, if installed, behaves as stated. README figures that can be measured are measured.

usage: test_claims.py DTINFO
"""
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from harness import Tally

PROGRAM, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(__file__).resolve().parents[3]
TALLY = Tally()
FIELDS = 6
# Relative to the stripped release build in README; other compilers, options and machines give other sizes.
SIZE_TOLERANCE = 0.15


def document(path):
    return " ".join((ROOT / path).read_text().split())


def claims():
    lines = (ROOT / "tests/data/claims.tsv").read_text().splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


# Runs the snippets of a JSON array, and prints an array of their outputs.
CHILD = """
import contextlib, io, json, sys
said = []
for snippet in json.load(sys.stdin):
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(snippet, globals())
        said.append(out.getvalue().strip())
    except BaseException as error:
        said.append("%s: %s" % (type(error).__name__, error))
print(json.dumps(said))
"""


def ask(snippets):
    """What each snippet prints, all run in one process."""
    text = json.dumps([snippet.replace("\\n", "\n") for snippet in snippets])
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", CHILD], input=text.encode(), capture_output=True, check=False)
    try:
        return json.loads(done.stdout.decode().splitlines()[-1])
    except (IndexError, ValueError):
        return ["exit %d: %s" % (done.returncode, done.stderr.decode()[-300:])] * len(snippets)


def by_programs(rows):
    asked = {}
    for path, sentence, program, version, snippet, output in rows:
        what = "%s, of %s %s: %s" % (path, program, version, sentence[:60])
        TALLY.check(what + ": the sentence stands there", " ".join(sentence.split()) in document(path), True)
        if snippet.startswith("source: "):
            for name in re.findall(r"\btests/\S+\.py", snippet):
                TALLY.check(what + ": " + name, (ROOT / name).exists(), True)
            continue
        modules = {program, *re.findall(r"(?:^|; )import (\w+)", snippet)}
        missing = [name for name in sorted(modules) if importlib.util.find_spec(name) is None]
        if missing:
            TALLY.skip("%s: %s is not installed" % (what, missing[0]))
        else:
            asked.setdefault(program, []).append((what, snippet, output))
    for program, some in asked.items():
        for (what, _, output), said in zip(some, ask([snippet for _, snippet, _ in some])):
            TALLY.check(what, said, output)
        TALLY.part(program)


def table_of_readme(rows):
    """Every program that README's table names next to an answer has a row."""
    lines = [line for line in (ROOT / "README.md").read_text().splitlines() if re.match(r"\| `[^|]*\| `[^|]*\| `[^|]*\| `", line)]
    TALLY.check("README has a table of others' answers", len(lines) > 3, True)
    for line in lines:
        others = line.split("|")[4]
        for program in re.findall(r"\(([^)]*)\)", others)[0].split(", "):
            found = [row for row in rows if row[2] == program and others.strip() in row[1]]
            TALLY.check("README: %s of %s has a row" % (others.strip(), program), len(found), 1)


def figures():
    """The program's size, and the number of commands."""
    text = (ROOT / "README.md").read_text()
    told = float(re.search(r"installs the program \(([0-9.]+) MB\)", text).group(1))
    again = float(re.search(r"The stripped program takes ([0-9.]+) MB", (ROOT / "docs/install.md").read_text()).group(1))
    TALLY.check("the size in docs/install.md", again, told)
    facts = json.loads(subprocess.run([PROGRAM, "__introspect"], capture_output=True, check=True).stdout)
    shown = set(re.findall(r"^\| `dtinfo (\w+)", text, re.M))
    TALLY.check("commands", shown, {command["name"] for command in facts["commands"] if not command["hidden"]})
    build = json.loads((pathlib.Path(PROGRAM).parent / "meson-info/intro-buildoptions.json").read_text())
    options = {option["name"]: option["value"] for option in build}
    release = options["buildtype"] == "release" and options["optimization"] == "2" and options["b_sanitize"] in ("none", [])
    if not release or not shutil.which("strip"):
        return TALLY.skip("the size: not a release build of README, or there is no strip")
    with tempfile.TemporaryDirectory() as folder:
        stripped = os.path.join(folder, "dtinfo")
        subprocess.run(["strip", "-o", stripped, PROGRAM], check=True)
        size = os.path.getsize(stripped) / 1e6
    TALLY.check("README: %.1f MB; the stripped program has %.2f MB" % (told, size), abs(size - told) <= told * SIZE_TOLERANCE, True)
    TALLY.part("figures")


def main():
    rows = claims()
    TALLY.check("fields", {len(row) for row in rows} | {FIELDS}, {FIELDS})
    by_programs(rows)
    table_of_readme(rows)
    figures()
    TALLY.finish()


if __name__ == "__main__":
    main()
