#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Memory runs out at each allocation of every command that writes, once or from then on: the right files, or exit status 5,
one line and the old files. "long" takes all allocations; otherwise a sample.

    writer_allocations.py DTINFO MEASURE FAILING_MALLOC [long]
"""
import collections
import os
import sys
import tempfile

from survival import QUICK, SANITIZED, check, environment, main, require, run
from verdicts import fault_of_end, sample, tell
from writers import fill, others, tree, workplace

LIBRARY = os.path.abspath(sys.argv.pop(3))
LONG = "long" in sys.argv[3:]
if LONG:
    sys.argv.remove("long")
MOST = 10 ** 9 if LONG else 400 if QUICK else 6000  # runs


def failing(row, at, stays):
    """Runs with a failure at the at-th allocation; returns the run and its number of allocations."""
    with tempfile.NamedTemporaryFile() as counter:
        more = {"DTI_TEST_FAIL_ON": "1"} if stays else {}
        fill(row.old)
        done = run(row.words, env=environment(TMPDIR="t", LD_PRELOAD=LIBRARY, DTI_TEST_FAIL_AT=str(at), DTI_TEST_FAIL_COUNT=counter.name, **more))
        text = counter.read().decode()
    require(text.strip().isdigit(), "it did not end:", row.words, at, done.code, done.stderr)
    return done, int(text)


@check
def any_allocation_of_a_writer_may_fail():
    with workplace(*others()) as rows:
        faults, counts = [], collections.Counter()
        for row in rows:
            done, count = failing(row, 0, False)
            require(done.code == 0 and tree() == row.new, "an undisturbed run of", row.words, done.code, done.stderr)
            for at, stays in sample([(at, stays) for at in range(1, count + 1) for stays in (False, True)], max(1, MOST // len(rows))):
                done, _ = failing(row, at, stays)
                counts[done.code] += 1
                what = fault_of_end(row, done, "malloc", "")
                if not what and done.code not in (0, 4, 5):
                    what = "exit status %d" % done.code
                if what:
                    faults.append((what, row.name, at, stays, done.stderr.decode()))
        print("        exit statuses %s" % dict(counts))
        tell(faults)
        require(counts[5] > sum(counts.values()) // 2, "hardly an allocation failed", counts)


if __name__ == "__main__":
    if SANITIZED:
        print("skipped: a sanitizer brings its own allocator")
        sys.exit(77)
    sys.exit(main())
