#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The lessons of a course on number formats: tests/oracle/commands/lessons.txt; its head explains the format. Each
command must print the listed output. If the packages of a lesson's Python are installed, its last line is evaluated
too and must agree with the listed output: the answers come from numpy, ml_dtypes, torch and exact fractions, never
from the program.

usage: lessons.py DTINFO
"""
import importlib.util
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings
from fractions import Fraction

HERE = pathlib.Path(__file__).resolve().parent
LESSONS = HERE / "lessons.txt"
SAMPLE = HERE.parents[2] / "docs/sample"
PROGRAM = os.path.abspath(sys.argv[1])
LEAST = 60  # lessons that must be compared; a misread file has fewer
UNAVAILABLE = 5  # the exit status
FUNCTION = re.compile("exp|log|softmax|sigmoid|norm")  # numpy and torch may be off by a float32 ulp
MEMBER = re.compile(r"([a-z_0-9.]+) = (.*)")


class Unavailable(Exception):
    pass


class Lesson:
    def __init__(self, line):
        self.line, self.python, self.commands, self.expected = line, [], [], []


def read():
    """The lessons, and the Python lines before the first one."""
    lessons, current = [], None
    for number, line in enumerate(LESSONS.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            current = None
            continue
        if line.startswith("#"):
            continue
        if current is None:
            current = Lesson(number)
            lessons.append(current)
        if line.startswith(">>> "):
            current.python.append(line[4:])
        elif line.startswith("$ "):
            current.commands.append(line[2:])
        else:
            current.expected.append(line)
    imports = lessons.pop(0).python
    for lesson in lessons:
        if not (lesson.python and lesson.commands and lesson.expected):
            raise SystemExit("%s:%d: a lesson has Python, a command and what it prints" % (LESSONS, lesson.line))
    return imports, lessons


def same_digits(about, value):
    """Rounds a value to the digits of a text."""
    digits = len(re.sub(r"e.*|[-.]", "", about).lstrip("0"))
    return Fraction("%.*e" % (digits - 1, float(value))) == Fraction(about)


def member(document, path):
    for key in path.split("."):
        document = document[int(key)] if key.isdigit() else document[key]
    return document if isinstance(document, str) else json.dumps(document)


def printed(lesson, folder):
    """What is wrong with the program's answer, or None."""
    environment = dict(os.environ, PATH="%s:/usr/bin:/bin" % os.environ["LESSONS_PATH"], SAMPLE=str(SAMPLE),
                       HOME=str(folder), LC_ALL="C")
    script = "\n".join(["set -e", *lesson.commands])
    run = subprocess.run(["/bin/sh", "-c", script], cwd=folder, env=environment, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, encoding="utf-8", timeout=120)
    if run.returncode == UNAVAILABLE:  # the build or the machine lacks libmpfr
        raise Unavailable
    if run.stderr:
        return run.stderr.strip()
    rows = [MEMBER.fullmatch(text) for text in lesson.expected]
    if not all(rows):
        return None if run.stdout.splitlines() == lesson.expected else "prints\n" + run.stdout
    document = json.loads(run.stdout)
    if any(result.get("true_value_reason") for result in document.get("results", [])):
        raise Unavailable
    for path, text in (row.groups() for row in rows):
        found = member(document, path)
        if found == text or (text.startswith("about ") and same_digits(text[6:], found)):
            continue
        return "%s is %s" % (path, found)
    return None


def flat(value):
    """The numbers of a list, an array or a tensor; a single number becomes a list of one."""
    if hasattr(value, "detach"):
        value = value.detach()
        value = (value.float() if value.is_floating_point() and value.element_size() < 4 else value).numpy()
    if hasattr(value, "reshape"):
        return list(value.reshape(-1))
    if isinstance(value, (list, tuple)):
        return [number for item in value for number in flat(item)]
    return [value]


def agrees(value, text, ulps):
    """Whether a Python number agrees with the listed text."""
    text = text.strip('"')
    if isinstance(value, (str, bool)) or type(value).__name__ in ("bool", "bool_"):
        return str(value).lower() == text
    if text.startswith("about "):
        return same_digits(text[6:], value)
    if isinstance(value, Fraction):
        return value == Fraction(text)
    if isinstance(value, int) or hasattr(value, "dtype") and value.dtype.kind in "iu":
        return int(value) == int(text)
    number = float(value)
    if ulps and math.isfinite(number):
        return abs(number - float(text)) <= ulps * 2 ** -23 * abs(number)
    return number != number if text == "nan" else number == float(text)


def judged(lesson, names):
    """What is wrong with the listed answer, or None."""
    names = dict(names)
    for line in lesson.python[:-1]:
        exec(line, names)
    values = flat(eval(lesson.python[-1], names))
    texts = [MEMBER.fullmatch(text) for text in lesson.expected]
    texts = [row.group(2) for row in texts] if all(texts) else lesson.expected
    ulps = 2 if FUNCTION.search(lesson.python[-1]) else 0
    if len(values) == len(texts) and all(agrees(*pair, ulps) for pair in zip(values, texts)):
        return None
    return "Python says " + " ".join(str(value) for value in values)


def main():
    imports, lessons = read()
    names = {"SAMPLE": str(SAMPLE), "Fraction": Fraction}
    missing = []
    for line in imports:
        package = line.split()[1]
        if importlib.util.find_spec(package):
            exec(line, names)
        else:
            missing.append(package)
    warnings.simplefilter("ignore")  # many lessons are about overflow
    wrong, compared, computed = [], 0, 0
    with tempfile.TemporaryDirectory() as path:
        os.symlink(PROGRAM, os.path.join(path, "dtinfo"))
        os.environ["LESSONS_PATH"] = path
        for lesson in lessons:
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                try:
                    reason = printed(lesson, folder)
                    compared += 1
                    reason = reason or judged(lesson, names)
                    computed += 1
                except Unavailable:
                    reason = None
                except (NameError, AttributeError):
                    if not missing:
                        raise
                os.chdir("/")
            if reason:
                wrong.append("%s:%d: $ %s: %s" % (LESSONS.name, lesson.line, lesson.commands[-1], reason))
    print("\n".join(wrong + ["%d of %d lessons compared, %d computed in Python" % (compared, len(lessons), computed)]))
    if missing:
        print("not installed: " + ", ".join(sorted(set(missing))))
    return 1 if wrong or compared < LEAST else 0


if __name__ == "__main__":
    sys.exit(main())
