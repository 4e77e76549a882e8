# SPDX-License-Identifier: MIT
"""Rounds exact numbers to published tables as IEEE 754-2019 4.3, OCP OFP8 and IEEE P3109 word it: find the neighbours on
the number line, compare with the point halfway, then apply the policies of dtinfo-dtypes(7).

A number is an int, a float or a Fraction, all of which Python compares exactly; or a Root, which compares by squares.
"""

import bisect
from fractions import Fraction

from published import INF, MINUS_INF, NAN, TOO_HIGH, TOO_LOW, posit_value

MODES = ("nearest-even", "nearest-away", "zero", "up", "down", "odd")
POLICIES = ("native", "saturate", "saturate-finite")
NO_CODE = None          # NaN where a format has none and no policy gives another number


class Root:
    """The square root of a positive Fraction: compared with another number by comparing squares."""

    def __init__(self, square):
        self.square = square

    def __lt__(self, other):
        return other > 0 and self.square < Fraction(other) ** 2

    def __gt__(self, other):
        return other < 0 or self.square > Fraction(other) ** 2

    def __eq__(self, other):
        return other >= 0 and self.square == Fraction(other) ** 2

    def __ge__(self, other):
        return not self < other

    def __abs__(self):
        return self


def part_of_step(x, low, high):
    """floor(d 2^32) for d, the part of the step from low to high that x is above low: the highest of its 32-bit
    fractions that does not pass x."""
    low, step = Fraction(low), Fraction(high) - Fraction(low)
    part = 0
    for bit in range(31, -1, -1):
        if x >= low + step * (part | 1 << bit) / (1 << 32):
            part |= 1 << bit
    return part


def posit_part(table, x, low):
    """The same for posits: the next 32 bits of the infinite code, by comparing with longer posits."""
    code = table.code_of(low)
    for more in range(1, 33):
        code = 2 * code + (posit_value(table.posit + more, 2 * code + 1) <= x)
    return code % (1 << 32)


def among(table, x, at, mode):
    """The index of the neighbour that x between line[at] and line[at + 1] rounds to."""
    inner, outer = (at, at + 1) if x > 0 else (at + 1, at)      # toward zero, and away from it
    if mode == "up":
        return at + 1
    if mode == "down":
        return at
    if mode == "zero":
        return inner
    if mode == "odd":
        return inner if table.odd[inner] else outer
    if x == table.halfway[at]:
        if mode == "nearest-away" or table.odd[inner]:          # one digit: two odd ones, IEEE 754 4.3.1 goes outward
            return outer
        return inner
    return at if x < table.halfway[at] else at + 1


def past_the_end(table, x, mode, word):
    """A magnitude above the largest: the limit, or out of range, as if the next step were there."""
    magnitude, negative = abs(x), x < 0
    limit, outside = (table.codes[0], TOO_LOW) if negative else (table.codes[-1], TOO_HIGH)
    if mode in ("zero", "odd") or mode == ("up" if negative else "down"):
        return limit
    if mode in ("up", "down"):
        return outside
    if mode == "stochastic":
        over = magnitude >= table.above or part_of_step(magnitude, table.line[-1], table.above) + word >= 1 << 32
    elif magnitude == table.overflow_at:
        over = mode == "nearest-away" or table.odd[-1]
    else:
        over = magnitude > table.overflow_at
    return outside if over else limit


def clamp_to_smallest(table, x):
    """x, but not closer to zero than the smallest magnitude: posits round nothing to zero, and a scale has no zero."""
    return x if abs(x) >= table.smallest else table.smallest if x >= 0 else -table.smallest


def code_or_limit(table, x, mode, word=None):
    """The code that x rounds to, or TOO_HIGH or TOO_LOW. Zero has the code of plus zero."""
    line = table.line
    if not table.has_zero or table.posit and x != 0:
        x = clamp_to_smallest(table, x)
    if table.posit:
        x = min(max(x, line[0]), line[-1]) if not isinstance(x, Root) else x
    if x > line[-1] or x < line[0]:
        return past_the_end(table, x, mode, word)
    at = bisect.bisect_right(line, x) - 1
    if line[at] == x:
        return table.codes[at]
    if mode == "stochastic":
        inner, outer = (at, at + 1) if x > 0 else (at + 1, at)
        low, high, magnitude = abs(line[inner]), abs(line[outer]), abs(x)
        part = posit_part(table, magnitude, low) if table.posit else part_of_step(magnitude, low, high)
        return table.codes[outer if part + word >= 1 << 32 else inner]
    return table.codes[among(table, x, at, mode)]


def beyond(table, side, infinite, policy):
    """What the policy stores for a number out of range, infinite or finite."""
    if policy == "saturate" or policy == "saturate-finite" and not infinite:
        return table.largest if side == TOO_HIGH else table.lowest
    code = table.inf.get(INF if side == TOO_HIGH else MINUS_INF)
    if code is not None:
        return code
    if table.nans:
        return nan_code(table, side == TOO_LOW, 0, 0, "quiet")
    return table.largest if side == TOO_HIGH else table.lowest


def nan_code(table, negative, payload, payload_bits, rule):
    """The code of a NaN. quiet keeps the sign and the top of the payload (payload_bits wide) in IEEE formats, and the
    sign where a NaN has one."""
    if table.ieee:
        exponent_bits, mantissa_bits = table.ieee
        quiet = 1 << mantissa_bits - 1
        code = (((1 << exponent_bits) - 1) << mantissa_bits) | quiet
        if rule == "canonical":
            return code
        moved = payload << mantissa_bits >> payload_bits
        return code | moved | (1 << table.width - 1 if negative and table.signed else 0)
    plus, minus = min(table.nans), max(table.nans)
    return minus if negative and rule != "canonical" else plus


def stored(table, x, mode="nearest-even", policy="native", word=None):
    """The code of a finite number; -0.0 is minus zero."""
    negative = x < 0 or x == 0 and str(x).startswith("-")
    code = code_or_limit(table, x, mode, word)
    if code in (TOO_HIGH, TOO_LOW):
        return beyond(table, code, False, policy)
    return table.zero(negative) if code == 0 and table.has_zero else code


def stored_infinity(table, negative, policy="native"):
    return beyond(table, TOO_LOW if negative else TOO_HIGH, True, policy)


def stored_nan(table, negative, payload=0, payload_bits=0, policy="native", rule="quiet"):
    if table.nans:
        return nan_code(table, negative, payload, payload_bits, rule)
    return NO_CODE if policy == "native" else table.largest


def stored_integer(table, x, mode="zero", policy="native"):
    """The code of a finite number in an integer format: rounded, then clamped or its low bits kept."""
    if table.kind == "bool":
        return int(x != 0)
    exact = Fraction(x)
    floor = exact.numerator // exact.denominator
    rest = exact - floor
    if rest and mode == "up" or rest and mode in ("zero", "odd") and exact < 0:
        whole = floor + 1
    else:
        whole = floor
    if rest and mode == "odd" and whole % 2 == 0:
        whole = floor if whole != floor else floor + 1
    if mode.startswith("nearest"):
        tie = rest * 2 == 1
        outward = exact > 0 if mode == "nearest-away" else floor % 2 == 1
        whole = floor + 1 if rest * 2 > 1 or tie and outward else floor
    if policy != "wrap":
        whole = min(max(whole, table.minimum), table.maximum)
    return whole % (1 << table.width)
