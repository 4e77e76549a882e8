# SPDX-License-Identifier: MIT
"""Prints the table of coverage.sh from the JSON that llvm-cov exports.

    coverage_table.py JSON FOLDER...
"""
import json
import os
import pathlib
import sys


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    exported = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    files = {}
    for function in exported["data"][0]["functions"]:
        path = os.path.relpath(os.path.realpath(function["filenames"][0]), root)
        if path.endswith(".c") and path.startswith(tuple(sys.argv[2:])):
            name = function["name"].rsplit(":", 1)[-1]  # static functions: file.c:name
            counts = files.setdefault(path, {})
            counts[name] = counts.get(name, 0) + function["count"]
    total = reached = 0
    print("%-38s %9s %8s  never reached" % ("file", "functions", "reached"))
    for path, counts in sorted(files.items()):
        missed = sorted(name for name, count in counts.items() if not count)
        total += len(counts)
        reached += len(counts) - len(missed)
        print(("%-38s %9d %8d  %s" % (path, len(counts), len(counts) - len(missed), " ".join(missed))).rstrip())
    print("%-38s %9d %8d" % ("all", total, reached))
    return 0 if total else 1


if __name__ == "__main__":
    sys.exit(main())
