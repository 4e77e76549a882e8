#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py leaves no process behind: of a case that takes too long, and of a run that is interrupted. Where samples are asked for,
leaks are looked for in some cases of each command."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import run

# A shell waits for another, which waits for two programs; all write down who they are.
CASE = "echo $$ >>%s; sh -c 'echo $$ >>%s; sleep 300 & echo $! >>%s; wait' | cat\n"
MAIN = "import pathlib, sys; import run; run.HERE = pathlib.Path(sys.argv.pop()); sys.exit(run.main())"


def alive(number):
    """Whether a process is there and has not ended: its state follows its name, which is in parentheses."""
    try:
        return pathlib.Path("/proc/%s/stat" % number).read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def within(seconds, condition):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


class NothingLeft(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="dtinfo-run-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.noted = self.folder / "noted"
        self.case = CASE % ((self.noted,) * 3)

    def numbers(self):
        return self.noted.read_text().split() if self.noted.exists() else []

    def none_is_left(self):
        self.assertEqual(len(self.numbers()), 3)
        within(10, lambda: not any(map(alive, self.numbers())))
        left = [number for number in self.numbers() if alive(number)]
        for number in left:
            os.kill(int(number), signal.SIGKILL)
        self.assertEqual(left, [])

    def test_too_long(self):
        begin = time.monotonic()
        result = run.run_group(["/bin/sh", "-c", self.case], 2)
        self.assertEqual(result, (b"", b"(killed after 2 s)\n", -signal.SIGKILL))
        self.assertLess(time.monotonic() - begin, 60)
        self.none_is_left()

    def test_interrupted(self):
        (self.folder / "group").mkdir()
        for name in ("one", "two"):  # the second is not begun
            (self.folder / "group" / (name + ".sh")).write_text(self.case)
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                self.noted.unlink(missing_ok=True)
                with subprocess.Popen([sys.executable, "-c", MAIN, "/bin/true", "-j", "1", str(self.folder)], cwd=run.__file__[:-6],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as runner:
                    try:
                        self.assertTrue(within(60, lambda: len(self.numbers()) == 3))
                        runner.send_signal(number)
                        self.assertNotEqual(runner.wait(60), 0)
                    finally:
                        runner.kill()
                self.none_is_left()


class Leaks(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="dtinfo-run-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.names = ["%s/%d" % (group, number) for group, count in (("one", 1), ("two", 40), ("three", 200)) for number in range(count)]
        for name in self.names:
            script = self.folder / (name + ".sh")
            script.parent.mkdir(exist_ok=True)
            script.write_text('echo "$ASAN_OPTIONS"\n')

    def searched(self, **variables):
        """The cases in which leaks are looked for."""
        environment = {name: value for name, value in os.environ.items() if name != "DTI_TEST_SPARSE"}
        subprocess.run([sys.executable, "-c", MAIN, "/bin/true", "--update", str(self.folder)], cwd=run.__file__[:-6], check=True,
                       stdout=subprocess.DEVNULL, env=dict(environment, ASAN_OPTIONS="detect_leaks=1:verbosity=0", **variables))
        said = {name: (self.folder / (name + ".stdout")).read_text() for name in self.names}
        self.assertEqual(set(said.values()) - {"detect_leaks=1:verbosity=0\n", "detect_leaks=1:verbosity=0:detect_leaks=0\n"}, set())
        return {name for name in self.names if not said[name].endswith(":detect_leaks=0\n")}

    def test_all(self):
        self.assertEqual(self.searched(), set(self.names))

    def test_samples(self):
        searched = self.searched(DTI_TEST_SPARSE="1")
        self.assertEqual({name.partition("/")[0] for name in searched}, {"one", "two", "three"})
        self.assertTrue(30 < len(searched) < 90, len(searched))
        self.assertEqual(searched, run.leak_cases(self.names))


if __name__ == "__main__":
    unittest.main()
