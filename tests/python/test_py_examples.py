# SPDX-License-Identifier: MIT
"""The examples in docs/examples/python print what is recorded beside them, with torch and without any package.

What torch, numpy and ml_dtypes print is recorded in the lessons, too: a lesson whose package is not there shows that,
with the mark (recorded).

usage: test_py_examples.py [--update]     --update writes the records, where all packages are installed
"""
import importlib.util
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs/examples/python"
LESSONS = ROOT / "tests/oracle/commands/lessons.txt"
LEAST = 120  # lessons that must be there
MARK = "  (recorded)"
OTHERS = ("torch ", "numpy ", "Python")
# torch and numpy may be off by some ulps of float32 in these, as their versions and processors differ
FUNCTION = re.compile("exp|log|softmax|sigmoid|norm")
WHOLE = all(importlib.util.find_spec(name) for name in ("torch", "numpy", "ml_dtypes"))


def printed(name, bare):
    """The standard output of an example, run in another folder; bare: without any installed package."""
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    command = [sys.executable] + ["-S"] * bare + [str(EXAMPLES / name)]
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             encoding="utf-8", timeout=300)
    if run.returncode or run.stderr and name != "test_mine.py":
        raise AssertionError("%s ends with %d\n%s" % (name, run.returncode, run.stderr))
    return run.stdout if name != "test_mine.py" else run.stderr


def recorded(name):
    return (EXAMPLES / name).with_suffix(".expected").read_text(encoding="utf-8")


def close(found, wanted):
    """Whether two lines of numbers are the same to five digits."""
    pairs = list(zip(found[6:].split(), wanted[6:].split()))
    return len(found.split()) == len(wanted.split()) and all(
        one == other or math.isclose(float(one), float(other), rel_tol=1e-5) for one, other in pairs)


def has_functions():
    """Whether there is libmpfr, which functions such as exp need."""
    import dtinfo
    try:
        dtinfo.calc("exp(1)", "fp32")
    except dtinfo.UnavailableError:
        return False
    return True


FUNCTIONS = has_functions()


class Examples(unittest.TestCase):
    maxDiff = None

    def lessons(self, bare):
        lines, wanted = printed("lessons.py", bare).splitlines(), recorded("lessons.py").splitlines()
        self.assertEqual(len(lines), len(wanted))
        marks, course = 0, ""
        for number, (line, want) in enumerate(zip(lines, wanted), 1):
            if line.startswith(">>> "):
                course = line
            marks += line.endswith(MARK)
            line = line.removesuffix(MARK)
            if not bare and line.startswith(OTHERS) and FUNCTION.search(course) and close(line, want):
                continue
            self.assertEqual(line, want, "line %d, %s" % (number, course))
        return marks, sum(line.startswith(OTHERS) for line in lines)

    @unittest.skipUnless(FUNCTIONS, "no libmpfr")
    def test_lessons(self):
        marks, lessons = self.lessons(bare=False)
        self.assertGreater(lessons, LEAST)
        if WHOLE:
            self.assertEqual(marks, 0)

    @unittest.skipUnless(FUNCTIONS, "no libmpfr")
    def test_lessons_without_packages(self):
        marks, lessons = self.lessons(bare=True)
        self.assertGreater(lessons, LEAST)
        self.assertGreater(marks, LEAST - 20)

    def test_lessons_are_those_of_the_command(self):
        """test_lessons.py judges what the command prints by the same lines."""
        known = LESSONS.read_text(encoding="utf-8")
        for line in recorded("lessons.py").splitlines():
            if line.startswith(">>> "):
                self.assertIn(line[4:], known)

    def test_fp16_nan(self):
        for bare in (False, True):
            self.assertEqual(printed("fp16_nan.py", bare), recorded("fp16_nan.py"))

    @unittest.skipUnless(FUNCTIONS, "no libmpfr")
    def test_mine(self):
        for bare in (False, True):
            self.assertRegex(printed("test_mine.py", bare), r"^\.{5}\n(?s:.*)\nRan 5 tests in .*\n\nOK\n$")

    @unittest.skipUnless(WHOLE, "no torch")
    def test_torch_hook(self):
        self.assertEqual(printed("torch_hook.py", bare=False), recorded("torch_hook.py"))

    def test_torch_hook_without_torch(self):
        self.assertEqual(printed("torch_hook.py", bare=True), "torch is not installed: nothing to show\n")


def update():
    if not WHOLE:
        raise SystemExit("torch, numpy and ml_dtypes are needed")
    for name in ("lessons.py", "fp16_nan.py", "torch_hook.py"):
        (EXAMPLES / name).with_suffix(".expected").write_text(printed(name, bare=False), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    else:
        unittest.main()
