#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Computes the codes in the table of docs/silent-casts.md, wrong and right, in fractions and integers alone.
The program plays no part here: test_examples.py runs the commands of that page.

Where numpy or ml_dtypes is installed and rounds once, it is asked for the right codes too.
"""

import bisect
import re
import sys
from fractions import Fraction

import pages

PAGE = pages.ROOT / "docs/silent-casts.md"
ARROW = "\u2192"     # between wrong and right
KINDS = ("double rounding", "wrong tie", "truncated", "wrong scale", "lost codes", "nibble order")


def even(steps):
    """To the nearest integer, ties to even: what Fraction.__round__ does."""
    return round(steps)


def away(steps):
    return int(steps + Fraction(1, 2))


def zero(steps):
    return int(steps)


class Float:
    """A binary format: sign, exponent and mantissa bits; codes above `largest` are no finite numbers."""

    def __init__(self, exponent, mantissa, bias, largest):
        self.mantissa, self.bias, self.largest = mantissa, bias, largest
        self.sign = 1 << (exponent + mantissa)

    def value(self, code):
        """The exact value of a code without sign."""
        exponent, mantissa = code >> self.mantissa, code & ((1 << self.mantissa) - 1)
        leading = 1 << self.mantissa if exponent else 0
        return Fraction(leading + mantissa) * Fraction(2) ** (max(exponent, 1) - self.bias - self.mantissa)

    def encode(self, number, rule=even):
        """The code of a number, rounded once; too large ones become the largest."""
        low, high, magnitude = 0, self.largest, abs(number)
        while low < high:   # the largest code whose value is not above the magnitude
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.value(middle) <= magnitude else (low, middle - 1)
        if low < self.largest:
            step = self.value(low + 1) - self.value(low)
            # As many steps as the code itself, so that "even" means an even code.
            low = rule(low + (magnitude - self.value(low)) / step)
        return low | (self.sign if number < 0 else 0)

    def cast(self, number, rule=even):
        """The number that is stored for another."""
        code = self.encode(number, rule)
        return self.value(code & ~self.sign) * (-1 if code & self.sign else 1)


FP64 = Float(11, 52, 1023, 0x7fefffffffffffff)
FP32 = Float(8, 23, 127, 0x7f7fffff)
FP16 = Float(5, 10, 15, 0x7bff)
BF16 = Float(8, 7, 127, 0x7f7f)
E4M3 = Float(4, 3, 7, 0x7e)
E2M1 = Float(2, 1, 1, 0x7)
NUMBERS = {"fp64": FP64, "fp32": FP32, "fp16": FP16}


def given(text):
    """The number that `FORMAT DECIMAL` names, as stored in that format."""
    dtype, decimal = text.split()
    return NUMBERS[dtype].cast(Fraction(decimal))


def power_below(number):
    """The exponent of the largest power of two that is not above a number."""
    exponent = number.numerator.bit_length() - number.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= number else exponent - 1


def block(element, number, exponent, scale=None):
    """A number of a block as `scale, code (value)`: the scale that is stored, the code made by scale."""
    code = element.encode(number / (scale or Fraction(2) ** exponent))
    back = float(element.value(code) * Fraction(2) ** exponent)
    digits = 1 if element is E2M1 else 2
    return f"scale `0x{exponent + 127:02x}`, code `0x{code:0{digits}x}` ({back:g})"


def code(number, digits):
    return f"`0x{number:0{digits}x}`"


def rounded_twice():
    """Rows 1 to 3."""
    julia, jax, triton = given("fp64 -2.980232238769532e-8"), given("fp64 -431.99999999999994"), given("fp32 1.0625001")
    # A zero that was negative keeps its sign.
    yield 1, code(FP16.encode(FP32.cast(julia)) | FP16.sign, 4), code(FP16.encode(julia), 4)
    yield 2, code(E4M3.encode(FP32.cast(jax)), 2), code(E4M3.encode(jax), 2)
    yield 3, code(E4M3.encode(FP16.cast(triton)), 2), code(E4M3.encode(triton), 2)


def ties_and_truncation():
    """Rows 4 to 9."""
    quarter, half = Fraction("0.25") / Fraction("0.5"), Fraction("2.5")
    yield 4, code(away(quarter), 2), code(even(quarter), 2)
    yield 5, code(E2M1.encode(half, away), 1), code(E2M1.encode(half), 1)
    yield 6, code(away(half), 1), code(even(half), 1)
    weight = given("fp32 0.2691408770292272")
    yield 7, code(FP32.encode(weight) >> 16, 4), code(BF16.encode(weight), 4)
    quotient = given("fp16 0.050018310546875") / given("fp16 0.0999755859375")
    yield 8, code(zero(quotient), 2), code(even(quotient), 2)
    circle = given("fp32 3.14")
    yield 9, code(FP32.encode(circle) >> 16, 4), code(BF16.encode(circle), 4)


def scales():
    """Rows 10 to 13."""
    five, six, one = Fraction("5.5"), Fraction(600), Fraction(1)
    # The rule that replaced the wrong one rounds the mantissa to that of the element, then takes the exponent - 2.
    yield (10, block(E2M1, five, power_below(five / 6)),
           block(E2M1, five, power_below(Float(8, 1, 127, 0x1fd).cast(five, away)) - 2))
    ratio = six / 448
    lower = power_below(ratio)
    nearest = lower if ratio * ratio < Fraction(2) ** (2 * lower + 1) else lower + 1
    yield 11, block(E4M3, six, nearest), block(E4M3, six, lower + 1)
    up = power_below(one / 448) + 1
    yield 12, block(E4M3, one, up, one / 448), block(E4M3, one, up)
    factor = E2M1.value(0x7) * E4M3.value(0x7e)
    yield 13, *(code(FP32.encode(factor * given(f"fp32 {scale}")), 8) for scale in ("4.83e-05", "3.85e-05"))


def codes():
    """Rows 14 to 20."""
    right = E4M3.encode(given("fp32 1.125"))
    yield 14, code(right & ~0x7 | right & 0x6, 2), code(right, 2)
    normal = Fraction(8 + 0x01) / 8 * Fraction(2) ** (0 - E4M3.bias)
    yield 15, code(FP16.encode(normal), 4), code(FP16.encode(E4M3.value(0x01)), 4)
    subnormal = BF16.value(0x0040)
    flushed = 0 if FP32.encode(subnormal) < 0x00800000 else BF16.encode(subnormal)
    yield 16, code(flushed, 4), code(BF16.encode(FP32.cast(subnormal)), 4)
    nan = 0x7f800001
    yield 17, code(nan >> 16, 4), code(nan >> 16 | 0x0040, 4)
    yield 18, code(FP16.encode(Fraction(FP16.sign)), 4), code(FP16.sign, 4)
    low, high = 0x21 & 0xf, 0x21 >> 4
    yield 19, f"{code(low, 1)} {code(high, 1)}", f"{code(high, 1)} {code(low, 1)}"
    pair = (0x90, 0xa1)     # of element 1, a loader of neighbours reads the high nibble of the first byte
    yield 20, code(pair[0] >> 4, 1), code(pair[1] & 0xf, 1)


def slug(heading):
    """GitHub's anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def check_rows(judge, rows, headings):
    """Numbers, links, years and kinds of the table's rows."""
    link = re.compile(r"\[([^\]]+)#(\d+)\]\(https://github\.com/([^)]+)/(?:issues|pull)/(\d+)\)")
    for number, (no, thread, year, kind, *_) in enumerate(rows, 1):
        found = link.fullmatch(thread)
        judge.check(found and found.group(1, 2) == found.group(3, 4), f"row {number}: thread {thread}")
        judge.check(2024 <= int(year) <= 2026, f"row {number}: year {year}")
        judge.check(kind in KINDS, f"row {number}: kind {kind}")
        anchor = re.fullmatch(rf"\[{number}\]\(#(.*)\)", no)
        judge.check(anchor and any(slug(heading) == anchor.group(1) and heading.startswith(f"{number}. ")
                                   for heading in headings), f"row {number}: no section for {no}")
    judge.check(len(rows) == 20, f"{len(rows)} rows")
    judge.check(len({row[1] for row in rows}) == len(rows), "a thread is listed twice")
    for kind in KINDS:
        judge.check(sum(row[3] == kind for row in rows) >= 2, f"fewer than two of kind {kind}")


def check_examples(judge, text):
    """Every section has commands."""
    sections = re.split(r"^### ", text, flags=re.M)[1:]
    judge.check(len(sections) == 20, f"{len(sections)} sections")
    for section in sections:
        judge.check(section.count("$ dtinfo ") + section.count("| dtinfo ") >= 2, f"too few commands: {section[:40]}")


def check_others(judge):
    """Right codes by numpy and ml_dtypes, from fp64 or fp32, each rounded once."""
    try:
        import ml_dtypes
        import numpy
    except ImportError as missing:
        print(f"numpy and ml_dtypes not asked: {missing}")
        return
    single = numpy.float32
    for number, value, dtype, bits in (
            (1, numpy.float64(-2.980232238769532e-8), numpy.float16, 0x8001),
            (3, single(1.0625001), ml_dtypes.float8_e4m3fn, 0x39), (5, single(2.5), ml_dtypes.float4_e2m1fn, 0x4),
            (7, single(0.2691408770292272), ml_dtypes.bfloat16, 0x3e8a), (9, single(3.14), ml_dtypes.bfloat16, 0x4049),
            (10, single(5.5), ml_dtypes.float4_e2m1fn, 0x7), (11, single(300), ml_dtypes.float8_e4m3fn, 0x79),
            (14, single(1.125), ml_dtypes.float8_e4m3fn, 0x39), (16, single(2) ** -127, ml_dtypes.bfloat16, 0x0040)):
        stored = numpy.array([value]).astype(dtype)
        judge.check(int(stored.view(f"u{stored.itemsize}")[0]) == bits, f"row {number}: {stored} by {dtype.__name__}")


def main():
    judge = pages.Judge()
    text = PAGE.read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.split("\n")
            if re.match(r"\| \[\d+\]", line)]
    check_rows(judge, rows, re.findall(r"^### (.*)$", text, flags=re.M))
    check_examples(judge, text)
    computed = [*rounded_twice(), *ties_and_truncation(), *scales(), *codes()]
    judge.check([number for number, *_ in computed] == list(range(1, 21)), "rows are not computed")
    for number, wrong, right in computed:
        judge.check(wrong != right, f"row {number}: {wrong} is right")
        shown = rows[number - 1][5]
        judge.check(shown == f"{wrong} {ARROW} {right}", f"row {number}: shown {shown}, computed {wrong}, {right}")
    check_others(judge)
    return judge.finish(100)


if __name__ == "__main__":
    sys.exit(main())
