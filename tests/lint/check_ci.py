#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A stage of .ci/run that could not run is left out by name, and counts as nothing that passed."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import tree

# What the machine has, and is told. pip fetches nothing; Meson skips each test; then one that passes.
PIP = 'mkdir -p build-wheels/bin; printf "#!/bin/sh\\nexit %d\\n" > build-wheels/bin/pip; chmod +x build-wheels/bin/pip'
MESON = 'case $1 in test) printf "Ok: %d\\nFail: 0\\nSkipped: 3\\n";; esac'
CASES = [("no package can be fetched", PIP % 1, "exit 1", (1, "left out: wheels valgrind_cases", "0 passed, 0 failed, 2 left out")),
         ("all tests are skipped", PIP % 0, MESON % 0, (1, "left out: wheels valgrind_cases", "0 passed, 0 failed, 2 left out")),
         ("some tests are skipped", PIP % 0, MESON % 4, (0, "left out: valgrind_cases", "4 passed, 0 failed, 1 left out")),
         ("no environment", "exit 1", "exit 1", (1, "left out: valgrind_cases", "0 passed, 1 failed, 1 left out"))]


def last_lines(run, python, meson):
    with tempfile.TemporaryDirectory() as place:
        root, tools = pathlib.Path(place, "tree"), pathlib.Path(place, "bin")
        (root / ".ci").mkdir(parents=True)
        tools.mkdir()
        shutil.copy(run, root / ".ci/run")
        for tool in ("awk", "bash", "chmod", "dirname", "grep", "id", "mkdir", "mktemp", "rm", "sh", "tail", "timeout"):
            (tools / tool).symlink_to(shutil.which(tool))
        for name, script in (("python3", python), ("meson", meson)):
            (tools / name).write_text("#!/bin/sh\n%s\n" % script, encoding="utf-8")
            (tools / name).chmod(0o755)
        done = subprocess.run(["bash", ".ci/run", "wheels", "valgrind_cases"], cwd=root, env={"PATH": str(tools)}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=60)
    lines = [line for line in done.stdout.splitlines() if not line.startswith("failed: ")]
    return (done.returncode, *lines[-2:])


def main():
    run = tree.ROOT / ".ci/run"
    if os.name != "posix" or not run.exists() or not shutil.which("bash"):
        print("there is no .ci/run or no bash")
        return tree.SKIPPED
    problems = []
    for name, python, meson, wanted in CASES:
        found = last_lines(run, python, meson)
        if found != wanted:
            problems.append(".ci/run: %s: %r, not %r" % (name, found, wanted))
    return tree.report(problems, "%d runs" % len(CASES))


if __name__ == "__main__":
    sys.exit(main())
