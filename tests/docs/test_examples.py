#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every example of the README, docs and the man pages and compares what it prints.

    test_examples.py PROGRAM             compares
    test_examples.py PROGRAM --update    writes the output into the documents; read the difference

Each block runs in its own folder with the files of pages.checkpoints(). A line `...` matches any lines.
Examples that need a missing tool (jq) are reported as skipped.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys

import pages

MARK = "@@end-of-step@@"


def programs(command):
    """Returns the programs that a command line starts."""
    words = shlex.split(command.replace(";", " ; "), posix=True)
    starts, first = [], True
    for word in words:
        if word in ("|", ";", "&&"):
            first = True
        elif first:
            starts.append(word)
            first = False
    return starts


def outputs(example, environment):
    """Returns the output of each step, with standard error. Steps share a shell, so that $? works. In man
    pages, output is 76 columns wide, for terminals of 80 and an indent of 4, unless it goes into a pipe."""
    def width(command):
        piped = re.search(r"dtinfo[^|]*\|", command)
        narrow = example.path.suffix == ".scd" and not piped
        return 'dtinfo() { command dtinfo --width 76 "$@"; }\n' if narrow else "unset -f dtinfo\n"

    script = "".join(f"{width(command)}{command}\nstatus=$?\necho '{MARK}'\n(exit $status)\n"
                     for command, _ in example.steps)
    done = subprocess.run(["bash", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", env=environment, timeout=60)
    return [part.lstrip("\n") if index else part
            for index, part in enumerate(done.stdout.split(MARK + "\n")[:len(example.steps)])]


def matches(shown, printed):
    """Whether the output matches. Blank lines at the end are ignored."""
    lines = "\n".join(shown).rstrip("\n").split("\n")
    pattern = "".join(r"(?:.*\n)*" if line.strip() == "..." else re.escape(line) + r"\n"
                      for line in lines)
    return re.fullmatch(pattern, printed.rstrip("\n") + "\n") is not None


def update(path, replacements):
    """Writes outputs below their commands; replacements: {(line of the block, step): lines}."""
    out, block, step, start = [], False, -1, 0
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("```"):
            block, step, start = not block, -1, number + 1
        elif block and line.startswith("$ "):
            step += 1
            out.append(line)
            out += replacements.get((start, step), [])
            continue
        elif block and (start, step) in replacements:
            continue
        out.append(line)
    path.write_text("\n".join(out), encoding="utf-8")


def check_comparison(judge, program):
    """Checks the README's table of answers: ours, and those of other stacks by --like."""
    row = re.compile(r"^\| `([^`]+)` \| `(\w+)` \| `([^`]+)` \| `([^`]+)` \(([^)]+)\) \|")
    for line in pages.README.read_text(encoding="utf-8").split("\n"):
        found = row.match(line)
        if not found:
            continue
        value, dtype, own, other, stacks = found.groups()
        done = pages.run(program, "cast", "-q", value, dtype)
        judge.check(done.stdout == own + "\n", f"README: {value} to {dtype}: {done.stdout}")
        for stack in stacks.split(", "):
            done = pages.run(program, "cast", "-q", value, dtype, "--like", stack)
            judge.check(done.stdout == other + "\n",
                        f"README: {value} to {dtype} of {stack}: {done.stdout}{done.stderr}")


def main():
    program, updating = sys.argv[1], "--update" in sys.argv[2:]
    if not (os.path.isfile(program) and os.access(program, os.X_OK)):
        sys.exit(f"{program} is no program")
    judge, skipped = pages.Judge(), 0
    environment = pages.plain_environment(program)
    for path in [*pages.MARKDOWN, *pages.MAN]:
        replacements = {}
        for example in pages.examples(path):
            missing = {word for command, _ in example.steps for word in programs(command)
                       if word not in ("source", "echo") and word != "dtinfo"
                       and not shutil.which(word)}
            if missing:
                skipped += 1
                print(f"skipped {example.where()}: needs {', '.join(sorted(missing))}")
                continue
            with pages.checkpoints():
                printed = outputs(example, environment)
            for index, ((command, shown), text) in enumerate(zip(example.steps, printed)):
                cut = any(line.strip() == "..." for line in shown)
                right = matches(shown, text)
                if updating and not right and not cut:
                    lines = text.rstrip("\n").split("\n")
                    if path.suffix == ".scd":
                        lines = [line.replace("\\", "\\\\") for line in lines]
                    lines += [""] * (shown[-1:] == [""] and index + 1 < len(example.steps))
                    replacements[example.line, index] = lines
                else:
                    judge.check(right, f"{example.where()}: $ {command}\n--- shown\n"
                                + "\n".join(shown) + "\n--- printed\n" + text)
        if replacements:
            update(path, replacements)
            print(f"updated {len(replacements)} examples of {path.name}")
    check_comparison(judge, program)
    if skipped:
        print(f"{skipped} examples skipped")
    return judge.finish(0 if updating else 20)


if __name__ == "__main__":
    sys.exit(main())
