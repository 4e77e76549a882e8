# SPDX-License-Identifier: MIT
"""Functions of rationals with mpmath, at whatever precision is needed: their first 128 bits, and whether the rest is
nonzero. Shared by the tests of calc's functions."""

from fractions import Fraction

import mpmath
from mpmath import mp

BITS = 128
LIMIT = 1 << 24          # the probe clamps exponents there
PRECISIONS = (400, 1000, 4000)
FUNCTIONS = ("rsqrt", "exp", "exp2", "expm1", "log", "log2", "log1p", "sin", "cos", "tan", "tanh", "erf",
             "sigmoid", "silu", "gelu")


def number(x):
    """A Fraction whose denominator is a power of two, exactly."""
    return mpmath.ldexp(mpmath.mpf(x.numerator), 1 - x.denominator.bit_length())


def function(name, x):
    """At the working precision, accurate to all but a few bits."""
    if name == "rsqrt":
        return 1 / mpmath.sqrt(x)
    if name == "exp2":
        return mpmath.power(2, x)
    if name == "log2":
        return mpmath.log(x) / mpmath.log(2)
    if name == "sigmoid":
        return mpmath.exp(x) / (1 + mpmath.exp(x)) if x < 0 else 1 / (1 + mpmath.exp(-x))
    if name == "silu":
        return x * function("sigmoid", x)
    if name == "gelu":
        return x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2
    if name == "erf" and abs(x) > 1000:   # mpmath would compute all the nines
        return mpmath.sign(x)
    if name == "tanh" and abs(x) > 10000:
        return mpmath.sign(x)
    return getattr(mpmath, name)(x)


def exact(name, x):
    """The value if it is rational, else None: by theorems about these functions."""
    if x == 0:
        zeros = {"exp": 1, "exp2": 1, "cos": 1, "sigmoid": Fraction(1, 2)}
        return Fraction(zeros.get(name, 0))
    if name == "log" and x == 1:
        return Fraction(0)
    power = x.numerator.bit_length() - x.denominator.bit_length()
    if name in ("log2", "rsqrt") and x == Fraction(2) ** power:
        if name == "log2":
            return Fraction(power)
        return Fraction(2) ** (-power // 2) if power % 2 == 0 else None
    if name == "rsqrt":
        return None     # 1/sqrt of a dyadic number that is not a power of four has no finite expansion
    if name == "exp2" and x.denominator == 1:
        return Fraction(2) ** int(x) if abs(x) <= LIMIT else None
    return None


def bound(name, x):
    """The limit that the function approaches more closely than any precision resolves, and whether it stays below
    it in magnitude."""
    big = abs(x) > 16
    if big and name in ("tanh", "erf"):
        return Fraction(1 if x > 0 else -1), True
    if big and (name, x > 0) in (("sigmoid", True), ("expm1", False)):
        return Fraction(1 if x > 0 else -1), True
    if big and name in ("silu", "gelu") and x > 0:
        return x, True
    small = abs(x) < Fraction(1, 16)
    if not small:
        return None
    if name in ("sin", "tanh"):
        return x, True
    if name == "tan":
        return x, False
    if name == "expm1":
        return x, x < 0
    if name == "log1p":
        return x, x > 0
    if name == "cos":
        return Fraction(1), True
    if name in ("exp", "exp2"):
        return Fraction(1), x < 0
    if name == "sigmoid":
        return Fraction(1, 2), x < 0
    if name in ("silu", "gelu"):
        return x / 2, x < 0
    return None


def spelled(negative, significand, exponent, sticky):
    """Formats a value as the probe does; significand has 128 bits."""
    return "%s%032x:%d%s" % ("-" if negative else "", significand, exponent, "+" if sticky else "")


def spelled_rational(x):
    """The first 128 bits of a Fraction."""
    if x == 0:
        return "0"
    size, negative = abs(x), x < 0
    exponent = size.numerator.bit_length() - size.denominator.bit_length() - BITS
    while size / Fraction(2) ** exponent >= 1 << BITS:
        exponent += 1
    while size / Fraction(2) ** exponent < 1 << (BITS - 1):
        exponent -= 1
    scaled = size / Fraction(2) ** exponent
    whole = scaled.numerator // scaled.denominator
    return spelled(negative, whole, exponent, scaled != whole)


def clamped(negative, huge):
    return ("-" if negative else "") + ("huge" if huge else "tiny")


def plain(text):
    """Normalizes an answer of the probe: clamped exponents have no significant digits."""
    if ":" not in text or not text.endswith("+"):
        return text
    exponent = int(text[:-1].split(":")[1])
    if abs(exponent + BITS - 1) < LIMIT:
        return text
    return clamped(text[0] == "-", exponent > 0)


def spelled_function(name, x):
    """The first 128 bits of a function of a Fraction, as the probe formats them; None if mpmath cannot decide."""
    known = exact(name, x)
    if known is not None:
        return spelled_rational(known)
    if name in ("exp", "exp2", "expm1") and x >= LIMIT:
        return clamped(False, True)
    if name in ("exp", "exp2", "sigmoid", "silu") and x <= -LIMIT:
        return clamped(name == "silu", False)
    if name == "gelu" and x < -(1 << 14):
        return clamped(True, False)
    limit = bound(name, x)
    if abs(x) >= LIMIT and limit is None and name not in ("log", "log2", "log1p", "rsqrt", "sin", "cos", "tan"):
        return None
    for precision in PRECISIONS:
        mp.prec = precision + (max(0, x.numerator.bit_length() - x.denominator.bit_length())
                               if name in ("sin", "cos", "tan") else 0)
        if limit is not None and abs(x) >= 1 << 14 and limit[1]:
            y = number(limit[0])
        else:
            y = function(name, number(x))
        sign, man, exp, bits = y._mpf_
        man = int(man)
        if bits > BITS:
            spare = bits - BITS
            rest = man & ((1 << spare) - 1)
            # decided unless the 100 bits that follow are all zeros or all ones
            if spare > 100 and 0 < rest >> (spare - 100) < (1 << 100) - 1:
                return plain(spelled(bool(sign), man >> spare, exp + spare, True))
        if limit is not None:
            size = abs(limit[0])
            distance = abs(abs(Fraction(man) * Fraction(2) ** exp) - size)
            if distance < size / Fraction(2) ** 160:
                text = spelled_rational(size)
                significand, exponent = text.rstrip("+").split(":")
                significand, exponent = int(significand, 16), int(exponent)
                if text.endswith("+"):
                    continue
                if limit[1]:
                    significand -= 1
                    if significand < 1 << (BITS - 1):
                        significand, exponent = (1 << BITS) - 1, exponent - 1
                return spelled(limit[0] < 0, significand, exponent, True)
    return None
