#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each seeded bug (seeded.py) must be refuted, and the program must show for the counterexample that the planted code is wrong.

Usage: test_seeded_bugs.py DTINFO ENCODERS [FAMILY]... Exit 0 all right, 1 a bug that is not found or not shown, 77 z3 or clang is missing."""
import sys

from run_proofs import families, installed, missing


def refuted(bug, module):
    """The verdict about a bug's theorem, with what is planted."""
    from seeded import planted
    from theorem import judge
    found = [each for each in module.theorems(False) if each.name == bug.theorem]
    if not found:
        raise ValueError("%s: no theorem %s" % (bug.name, bug.theorem))
    with planted(bug):
        claim = found[0].claim()
        claim.run.axioms.extend(claim.inputs[name] == value for name, value in bug.pinned.items())
        return judge(claim, 120, "bitwuzla" if installed("bitwuzla") else "z3")


def judged(bug, module, program):
    """A line about a bug, and whether it is as it should be."""
    from seeded import planted
    verdict = refuted(bug, module)
    inputs = ", ".join("%s = %#x" % pair for pair in (verdict.inputs or {}).items())
    if verdict.answer != "counterexample":
        return "%s: %s" % (bug.name, verdict.answer), False
    with planted(bug):
        wrong, ours, exact = bug.shows(verdict.inputs, program)
    line = "%s: %.1f s, %s; planted %s, dtinfo %s, exact %s" % (bug.name, verdict.seconds, inputs, *map(told, (wrong, ours, exact)))
    return line, ours == exact != wrong


def told(value):
    return value.hex() if isinstance(value, bytes) else str(value)


def main():
    program, encoders = sys.argv[1:3]
    reason = missing([])
    if reason:
        print("skipped:", reason)
        return 77
    import theorem
    theorem.ENCODERS = encoders
    count, bad = 0, 0
    for name, module in families(sys.argv[3:]).items():
        for bug in getattr(module, "SEEDED", ()):
            line, good = judged(bug, module, program)
            count, bad = count + 1, bad + (not good)
            print("%s: %s%s" % (name, line, "" if good else " -- NOT SHOWN"), flush=True)
    print("%d seeded bugs, %d not found or not shown" % (count, bad))
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main())
