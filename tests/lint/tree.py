# SPDX-License-Identifier: MIT
"""The files of the project, for the checks beside this one; and how a check reports."""
import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77  # the exit code by which Meson knows a skipped test


def files(*suffixes):
    """Every file of the source tree with one of the suffixes (all files when none is given)."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders
                      if not re.match(r"build|\.git$|\.venv|__pycache__|\.mypy_cache", name)]
        found += [pathlib.Path(folder, name) for name in names
                  if not name.endswith((".pyc", "~")) and (not suffixes or name.endswith(suffixes))]
    return sorted(found)


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def without_comments(text):
    """C text with comments blanked out, line numbers kept."""
    def blank(match):
        token = match.group(0)
        return re.sub(r"[^\n]", " ", token) if token.startswith("/") else token
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text,
                  flags=re.DOTALL)


def without_strings(text):
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


def report(problems, what):
    """Prints the problems and the count; the exit code."""
    for problem in problems:
        print(problem)
    print("%s: %d problem%s" % (what, len(problems), "" if len(problems) == 1 else "s"))
    return 1 if problems else 0
