# SPDX-License-Identifier: MIT
"""What the tests of the library's numbers share: exact rationals as values of the library, and a program that judges."""

import os
import subprocess
from fractions import Fraction

from formats import floor_log2, power_of_two

BITS = 128
SPARSE = 5 if "DTI_TEST_SPARSE" in os.environ else 1  # one in so many like questions: another build has them all


def value_text(value, negative_zero=False):
    """A Fraction as values_judge.c writes a struct dti_value: 128 bits, "+" if there are more, and the exponent."""
    if value == 0:
        return "-0" if negative_zero else "0"
    sign = "-" if value < 0 else ""
    value = abs(value)
    exponent = floor_log2(value)
    units = value * power_of_two(BITS - 1 - exponent)
    kept = units.numerator // units.denominator
    return f"{sign}{kept:032x}{'+' if units != kept else ''}p{exponent}"


def judge(program, lines):
    """Passes lines to the program; its exit code."""
    process = subprocess.Popen([program], stdin=subprocess.PIPE, text=True)
    try:
        for line in lines:
            process.stdin.write("\t".join(str(word) for word in line) + "\n")
        process.stdin.close()
    except BrokenPipeError:
        pass
    return process.wait()


def whole(value):
    """Whether a Fraction has at most 128 bits."""
    return value == 0 or "+" not in value_text(Fraction(value))
