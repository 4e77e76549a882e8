# SPDX-License-Identifier: MIT
"""What is wrong with the end of a command of writers.py in which one thing failed."""
import collections
import os
import re

from survival import require
from writers import INDEX, RECORD, broken_promise, files_of, is_new, is_temporary, strays, tree

TOLD = 60  # faults that are printed
LINE = re.compile(r"dtinfo( [a-z]+)?: ")
STANDS = re.compile(r"\bwrote |\bare written\b|\bin place\b|\bis complete\b")  # what is new


def new_lines(done, row):
    """What it says that an undisturbed run does not."""
    known = row.good.stderr.decode().splitlines()
    return [line for line in done.stderr.decode("utf-8", "replace").splitlines() if line not in known]


def is_old_form(row, files, path, lines):
    """Whether only an old form is left that could not be found: for a reason that is told, or by an index that could not be
    read, as dtinfo-cast(1) says."""
    told = any("would stay" in line for line in lines)
    return is_new(row, files, "") if told else is_new(row, files) and path.endswith("/o/new/" + INDEX)


def fault_of_success(row, done, found, name, path):
    """The right files, and an answer that is complete or said not to be."""
    lines, left = new_lines(done, row), strays(found)
    files = files_of({at: data for at, data in found.items() if not is_temporary(at)})
    if files != files_of(row.new) and not is_old_form(row, files, path, lines):
        return "exit status 0, but other files"
    if left and name != "unlinkat":
        return "exit status 0, and a temporary file is left"
    if not all(LINE.match(line) for line in lines):
        return "exit status 0, and another text"
    if files == files_of(row.new) and done.stdout != row.good.stdout and (row.prints or not lines):
        return "exit status 0, but another report without a word"
    return None


def fault_of_failure(row, done, found, name, path):
    """The exit status and the line fit the call; the files are the old ones, or the line says which are new."""
    lines = new_lines(done, row)
    if len(lines) != 1 or not LINE.match(lines[0]):
        return None if name == "write to standard error" else "exit status %d without one line" % done.code
    if done.code not in (3, 4, 5):
        return "exit status %d" % done.code
    if "'" not in lines[0] and "standard output" not in lines[0] and done.code != 5:
        return "the line names no file"
    left = strays(found)
    if left and name != "unlinkat":
        return "left behind: %s" % left
    visible = {at: data for at, data in found.items() if not is_temporary(at)}
    why = broken_promise(row, visible)
    if why:
        return why
    is_old = files_of(visible) in (files_of(row.before), {at: data for at, data in files_of(row.before).items() if not at.endswith(RECORD)})
    if not is_old and not STANDS.search(lines[0]):
        return "new files are there without a word"
    if is_old and STANDS.search(lines[0]):
        return "it is not complete"
    return None


def fault_of_end(row, done, name, path, may_fail=True):
    """Why the answer, or what is left, is not as documented, or None. name, path: the call that failed, and of which file."""
    found = tree()
    if os.listdir("t"):
        return "left in TMPDIR: %s" % os.listdir("t")
    if done.code == 0:
        return fault_of_success(row, done, found, name, path)
    if row.words[0] in ("check", "verify", "explain") and done.code == 1 and b"cannot read" in done.stdout + done.stderr:
        return None  # an answer
    if done.code > 5:
        return "exit status %d" % done.code
    return fault_of_failure(row, done, found, name, path) if may_fail else "exit status %d, though it only had to go on" % done.code


def sample(places, most):
    """Evenly spread, at the same places each time."""
    step = max(1, len(places) / most)
    return [places[int(at * step)] for at in range(int(len(places) / step))]


def tell(faults):
    """Fails if there are some: lists of the kind and what belongs to it."""
    for what, count in collections.Counter(what for what, *_ in faults).items():
        print("        %d of: %s" % (count, what))
    for each in faults[:TOLD]:
        print("        %s" % (each,))
    require(not faults, "faults", len(faults))
