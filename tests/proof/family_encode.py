# SPDX-License-Identifier: MIT
"""Encoding to floats: each source, each format of the table that its lane takes, six rounding modes; all numbers and all policies
for overflow and NaN in one theorem."""
import z3

from lanes import POLICIES, ROUNDS, SOURCES, Run, encoded, formats, module, right, takes
from theorem import Claim, Theorem, defined

FAMILY = "One number to any float format, rounded once: `lanes_encode.c`, for all numbers and all policies of overflow and NaN"


def claim(source, fmt, mode):
    run = Run(module())
    x, policy = z3.BitVec("x", source.width), z3.BitVec("policy", 3)
    stored = encoded(run, source, fmt, mode, x, policy)
    return Claim(run, {"x": x, "policy": policy}, z3.And(defined(stored), right(source, fmt, mode, x, policy, stored.bits)))


def theorems(sample):
    assert len(POLICIES) == 8  # 3 bits
    for count, (source, fmt) in enumerate((source, fmt) for source in SOURCES.values() for fmt in formats(("float", "ufloat"))
                                          if takes(fmt, source.hub)):
        for at, mode in enumerate(ROUNDS):
            if not sample or (count % 7 == 0 and at == count // 7 % len(ROUNDS)):
                yield Theorem("encode", "%s to %s, %s" % (source.name, fmt.name, mode),
                              lambda source=source, fmt=fmt, mode=mode: claim(source, fmt, mode))
