# SPDX-License-Identifier: MIT
"""Casts of numbers through the library: texts of any length, in all formats, modes and policies, against formats.py, which
searches the numbers of a format with exact rationals. Judged: the code, the flags, the exact error, the error in units
of the spacing, the neighbours, and texts of the result."""

import random
import sys
from fractions import Fraction

import formats
from formats import FORMATS, INEXACT, INF, NAN, decimal_text, hex_text, power_of_two
from judging import SPARSE, judge, value_text, whole


def sign_of(negative):
    return "-" if negative else ""


def step_at(fmt, index):
    """The spacing at a magnitude: up to the next one, but not more than the number itself."""
    if not fmt.is_float:
        return Fraction(1)
    here = fmt.magnitude(index)
    after = (fmt.table()[index + 1] if fmt.width <= 16 else fmt.magnitude(index + 1)) - here
    return after if here == 0 else min(after, here)


def magnitudes_around(fmt, value):
    """Codes without sign of the largest magnitude <= value, and of the smallest >= value; None: there is none."""
    low, fraction = fmt.locate(value)
    if low < 0:
        return None, fmt.code_at(0), False
    infinity = fmt.inf[0] if fmt.inf else None
    if low > fmt.max_index or (low == fmt.max_index and fraction):
        return fmt.code_at(fmt.max_index), infinity, False
    if not fraction:
        return fmt.code_at(low), fmt.code_at(low), True
    return fmt.code_at(low), fmt.code_at(low + 1) if low < fmt.max_index else infinity, False


def neighbours_of_integer(fmt, cls, negative, value):
    low = -(1 << fmt.width - 1) if fmt.signed else 0
    high, mask = fmt.max_code(), (1 << fmt.width) - 1
    if cls == INF:
        below, above = (None, low) if negative else (high, None)
    else:
        number = -value if negative else value
        floor, ceiling = number // 1, -(-number // 1)
        if floor == ceiling and low <= number <= high:
            floor, ceiling = floor - 1, ceiling + 1
        below = high if floor > high else floor if floor >= low else None
        above = low if ceiling < low else ceiling if ceiling <= high else None
    return tuple(None if code is None else int(code) & mask for code in (below, above))


def next_index(fmt, negative, index, up):
    """The code after the number at a magnitude index; one zero. None: there is none."""
    if negative != up or index == 0:        # away from zero
        away_negative = not up if index == 0 else negative
        if away_negative and not fmt.signed:
            return None
        if index == fmt.max_index:
            if not fmt.inf:
                return None
            return fmt.inf[1] if away_negative else fmt.inf[0]
        return fmt.signed_code(fmt.code_at(index + 1), away_negative)
    if fmt.scale and index == 0:
        return None
    return fmt.signed_code(fmt.code_at(index - 1), negative and index > 1)


def neighbours(fmt, cls, negative, value):
    """Codes of the numbers that bracket a number, or those beside it if the format has it."""
    if cls == NAN or fmt.kind == "bool":
        return None, None
    if not fmt.is_float:
        return neighbours_of_integer(fmt, cls, negative, value)
    lowest = fmt.lowest_code()
    if cls == INF:
        if negative:
            if fmt.inf and fmt.signed:
                return None, fmt.lowest_code()
            return None, lowest
        return fmt.max_code(), None
    if negative and not fmt.signed and value:
        return None, fmt.code_at(0)
    floor, ceiling, exact = magnitudes_around(fmt, value)
    if exact:
        index = fmt.index_of(floor)
        if fmt.scale:
            return (fmt.code_at(index - 1) if index > 0 else None,
                    fmt.code_at(index + 1) if index < fmt.max_index else None)
        return next_index(fmt, negative, index, False), next_index(fmt, negative, index, True)
    if negative and fmt.signed:
        infinity = fmt.inf and ceiling == fmt.inf[0]
        below = None if ceiling is None else fmt.inf[1] if infinity else fmt.signed_code(ceiling, True)
        return below, fmt.signed_code(floor, True)
    return floor, ceiling


def exact_text(cls, negative, value):
    if cls in (NAN, INF):
        return NAN if cls == NAN else sign_of(negative) + INF
    if value == 0:
        return sign_of(negative) + "0"
    digits, _, scale = decimal_text(value).partition("e-")
    scale = int(scale or 0)
    if scale:
        digits = digits.rjust(scale + 1, "0")
        digits = (digits[:-scale] + "." + digits[-scale:]).rstrip("0").rstrip(".")
    return sign_of(negative) + digits


def spelled(cls, negative, value):
    if cls == NAN:
        return NAN
    return sign_of(negative) + INF if cls == INF else value_text(-value if negative else value, negative)


def facts(fmt, number, code):
    """direction, stored, step, error, relative, ulps."""
    cls, negative, value = number
    stored_cls, stored_negative, stored = fmt.decode(code)
    text = spelled(stored_cls, stored_negative, stored)
    if NAN in (cls, stored_cls):
        direction = 0
    else:
        ends = [None if c == INF else (-v if n else v)
                for c, n, v in ((cls, negative, value), (stored_cls, stored_negative, stored))]
        if None in ends:
            sizes = [(-1 if n else 1) if c == INF else 0
                     for c, n in ((cls, negative), (stored_cls, stored_negative))]
            direction = (sizes[1] > sizes[0]) - (sizes[1] < sizes[0])
        else:
            direction = (ends[1] > ends[0]) - (ends[1] < ends[0])
    if stored_cls in (NAN, INF):
        return [direction, text, "-", "-", "-", "-"]
    step = step_at(fmt, fmt.index_of(fmt.unsigned(code)) if fmt.is_float else 0)
    if cls in (NAN, INF):
        return [direction, text, value_text(step), "-", "-", "-"]
    error = (-stored if stored_negative else stored) - (-value if negative else value)
    relative = value_text(error / value) if value else NAN
    return [direction, text, value_text(step), value_text(error), relative, value_text(error / step)]


def expectation(text, number, fmt, mode, overflow, nan, seed, via):
    cls, negative, value = number
    at, flags = number, 0
    for stage in filter(None, (via, fmt)):
        own = mode or ("nearest-even" if stage.is_float else "zero")
        code, more = formats.encode(stage, *at, own, overflow, seed)
        if at[0] == NAN and nan == "canonical" and stage.nan:
            code = stage.canonical_nan()
        flags |= more
        at = stage.decode(code)
    same = (cls == NAN) == (at[0] == NAN) and (cls == NAN or (
        cls == at[0] and value == at[2] and (negative == at[1] or value == 0)))
    flags = flags & ~INEXACT | (0 if same else INEXACT)
    below, above = neighbours(fmt, *number)
    lost = not same and cls not in (NAN, INF)
    if cls == INF and not same and fmt.inf and (fmt.signed or not negative):
        below, above = (fmt.inf[1], below or above) if negative else (below, fmt.inf[0])
    if lost and formats.encode(fmt, *number)[1] == 0:
        below = above = formats.encode(fmt, *number)[0]     # lost on the way, so it is its own neighbour
    kept = cls in (NAN, INF) or whole(value)
    return ["cast", text, fmt.name, mode or "-", overflow, nan, seed, via.name if via else "-",
            spelled(*number), f"{code:x}", f"{flags:x}", *facts(fmt, number, code),
            "-" if below is None else f"{below:x}", "-" if above is None else f"{above:x}",
            exact_text(*at), "whole" if kept else "more"]


# Texts.

def with_digits(value, rng):
    """A text of exactly this magnitude, which is dyadic."""
    form = rng.random()
    if form < 0.3:
        return hex_text(value)
    if form < 0.4:
        return f"{value.numerator}/{value.denominator}"
    return decimal_text(value)


def nudged(value, rng):
    """A text slightly off a dyadic magnitude, far behind its last digit."""
    digits, _, scale = decimal_text(value).partition("e-")
    zeros = rng.choice((1, 5, 17, 40, 300, 3000))
    scale = int(scale or 0) + zeros
    number = int(digits) * 10 ** zeros + rng.choice((-1, 1))
    return f"{number}e-{scale}", Fraction(number, 10 ** scale)


def some_magnitude(fmt, rng):
    """A number of the format, or a border: between two numbers, of the range, of zero."""
    top = fmt.max_index if fmt.is_float else fmt.max_code()
    index = rng.choice((0, 1, top, top - 1 if top else 0, rng.randint(0, top), rng.randint(0, top),
                        rng.randint(0, min(top, 300))))
    if not fmt.is_float:
        value, after = Fraction(index), Fraction(index + 1)
    else:
        value, after = fmt.magnitude(index), fmt.magnitude(index + 1)
    place = rng.random()
    if place < 0.3:
        return value
    if place < 0.75:
        return (value + after) / 2
    return value + (after - value) * rng.randint(1, 63) / 64


def random_decimal(fmt, rng):
    """Digits at random, of about the format's range."""
    if fmt.is_float:
        low, high = -fmt.bias - fmt.man - 4, formats.floor_log2(fmt.magnitude(fmt.max_index)) + 4
    else:
        low, high = -4, fmt.width + 4
    tens = int(rng.uniform(low, high) * 0.30103)
    count = rng.choice((1, 2, 5, 17, 25, 39, 60, 400))
    digits = rng.randint(1, 10 ** count - 1)
    exponent = tens - len(str(digits)) + 1
    value = Fraction(digits) * (Fraction(10) ** exponent)
    return f"{digits}e{exponent}", value


def question(fmt, rng):
    """(text, class, negative, magnitude)"""
    kind = rng.random()
    negative = rng.random() < 0.3
    sign = sign_of(negative)
    if kind < 0.03:
        word = rng.choice(("inf", "Infinity", "nan", "0", "0.000", "0x0p9"))
        cls = {"i": INF, "I": INF, "n": NAN}.get(word[0], "zero")
        if cls == NAN:
            negative, sign = False, ""
        return sign + word, (cls, negative, None if cls != "zero" else Fraction(0))
    if kind < 0.3:
        text, value = random_decimal(fmt, rng)
    elif kind < 0.4:
        a, b = rng.randint(1, 10 ** rng.choice((1, 5, 40))), rng.randint(1, 10 ** rng.choice((1, 5, 40)))
        text, value = f"{a}/{b}", Fraction(a, b)
    elif kind < 0.45:
        value = Fraction(rng.getrandbits(rng.choice((8, 63, 70, 200))) + 1)
        text = str(value.numerator) if rng.random() < 0.5 else bin(value.numerator)
    else:
        value = some_magnitude(fmt, rng)
        if value and rng.random() < 0.4:
            text, value = nudged(value, rng)
        else:
            text = with_digits(value, rng)
    return sign + text, formats.number(negative, value)


def lines(count):
    rng = random.Random(33)
    everything = list(FORMATS.values())
    vias = [FORMATS[name] for name in ("fp32", "fp16", "bf16", "int8")]
    for _ in range(count):
        fmt = rng.choice(everything)
        text, number = question(fmt, rng)
        overflow = rng.choice(("native", "native", "saturate", "saturate-finite", "wrap"))
        via = rng.choice(vias) if rng.random() < 0.1 else None
        mode = rng.choice((None,) + formats.ROUNDS)
        if via and (mode == "stochastic" or overflow == "wrap"):
            mode, overflow = None, "native"
        seed = rng.getrandbits(64) if mode == "stochastic" else 0
        nan = rng.choice(("quiet", "canonical"))
        yield expectation(text, number, fmt, mode, overflow, nan, seed, via)


if __name__ == "__main__":
    sys.exit(judge(sys.argv[1], lines(int(sys.argv[2]) if len(sys.argv) > 2 else 20000 // SPARSE)))
