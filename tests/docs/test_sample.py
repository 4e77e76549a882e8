#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the files in docs/sample are those that make_sample.py there writes."""

import pathlib
import subprocess
import sys
import tempfile

import pages


def main():
    judge = pages.Judge()
    sample = pages.ROOT / "docs/sample"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, str(sample / "make_sample.py"), folder], check=True)
        made = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}
    shipped = {path.name: path.read_bytes() for path in sample.iterdir() if path.suffix != ".py"}
    judge.check(made.keys() == shipped.keys(), f"made {sorted(made)}, shipped {sorted(shipped)}")
    for name, data in shipped.items():
        judge.check(made.get(name) == data, f"{name} is not what make_sample.py writes")
        judge.check(len(data) < 16384, f"{name} has {len(data)} bytes")
    return judge.finish(at_least=5)


if __name__ == "__main__":
    sys.exit(main())
