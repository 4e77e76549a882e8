# SPDX-License-Identifier: MIT
"""Calc's functions against mpmath: the first 128 bits for arguments of all sizes in fp16, bf16, fp32 and fp64; with
--long all numbers of fp16 and bf16. Integer powers against Fractions.

Usage: test_functions.py TRUTH_PROBE [--long]
"""

import random
import sys
from fractions import Fraction

import harness

if not harness.have("mpmath"):
    print("skipped: mpmath is not installed")
    sys.exit(77)
import exact_functions  # noqa: E402

FORMATS = {"fp16": (5, 10, 15), "bf16": (8, 7, 127), "fp32": (8, 23, 127), "fp64": (11, 52, 1023)}


def decode(layout, code):
    """(significand, exponent) of a positive code; None for infinity and NaN."""
    exp_bits, man_bits, bias = layout
    exponent, mantissa = code >> man_bits, code & ((1 << man_bits) - 1)
    if exponent == (1 << exp_bits) - 1:
        return None
    if exponent == 0:
        return mantissa, 1 - bias - man_bits
    return mantissa | 1 << man_bits, exponent - bias - man_bits


def arguments_of(layout, random_source, count):
    """Codes of all sizes, about the same number per binade, and around points where the functions change behaviour."""
    exp_bits, man_bits, bias = layout
    for _ in range(count):
        where = random_source.random()
        if where < 0.4:
            exponent = random_source.randrange((1 << exp_bits) - 1)
        elif where < 0.95:
            exponent = min(max(bias + random_source.randint(-12, 8), 0), (1 << exp_bits) - 2)
        else:
            exponent = 0
        yield exponent << man_bits | random_source.getrandbits(man_bits)


def in_domain(name, negative, value):
    if name in ("log", "log2", "rsqrt"):
        return not negative and value > 0
    return name != "log1p" or not negative or value < 1


def check_all(tally, probe, name, layout, codes):
    requests, wants = [], []
    for negative in (False, True):
        for code in codes:
            number = decode(layout, code)
            if number is None or number[0] == 0:
                continue
            value = Fraction(number[0]) * Fraction(2) ** number[1]
            if not in_domain(name, negative, value):
                continue
            want = exact_functions.spelled_function(name, -value if negative else value)
            if want is None:
                continue
            requests.append("F %s 0 %s%x:%d" % (name, "-" if negative else "", *number))
            wants.append(want + " 0")
    for request, got, want in zip(requests, harness.ask(probe, requests), wants):
        value, flags = got.split()
        tally.check(request, exact_functions.plain(value) + " " + flags, want)
    return len(wants)


def check_powers(tally, probe, random_source, count):
    requests, wants = [], []
    for _ in range(count):
        power = random_source.choice((2, 3, -1, -2, random_source.randint(-40, 40)))
        significand = random_source.getrandbits(random_source.choice((4, 11, 24, 53))) | 1
        exponent = random_source.randint(-60, 20)
        sign = random_source.choice(("", "-"))
        value = Fraction(significand) * Fraction(2) ** exponent * (-1 if sign else 1)
        requests.append("F ^ %d %s%x:%d" % (power, sign, significand, exponent))
        wants.append(exact_functions.spelled_rational(value ** power) + " 0")
    for request, got, want in zip(requests, harness.ask(probe, requests), wants):
        tally.check(request, got, want)


def main():
    probe, long = harness.arguments()
    tally = harness.Tally()
    source = random.Random(2019)
    check_powers(tally, probe, source, 100000 if long else 5000)
    tally.part("powers")
    for name in exact_functions.FUNCTIONS:
        count = 0
        for layout_name, layout in FORMATS.items():
            if long and layout_name in ("fp16", "bf16"):
                codes = range(1 << 15)
            else:
                codes = list(arguments_of(layout, source, 20000 if long else 60 if harness.QUICK else 250))
            count += check_all(tally, probe, name, layout, codes)
        if count == 0:
            tally.differ(name, "nothing was checked", "")
        tally.part(name)
    tally.finish()


main()
