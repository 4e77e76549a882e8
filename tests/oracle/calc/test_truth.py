# SPDX-License-Identifier: MIT
"""True values against Fractions and mpmath: random rational expressions, which stay rational and exact; expressions
with functions, whose narrow interval must contain the value at ten times the precision; sums and dot products; the
error of a stored number; texts.

Usage: test_truth.py TRUTH_PROBE [--long]
"""

import random
import sys
from fractions import Fraction

import harness

if not harness.have("mpmath"):
    print("skipped: mpmath is not installed")
    sys.exit(77)
import mpmath  # noqa: E402
from mpmath import mp  # noqa: E402

import exact_functions  # noqa: E402

PRECISION = 192
BITS_MAX = 1 << 16
UNARY = ("neg", "abs", "floor", "ceil", "round", "relu", "^2", "^3", "^-1", "^-2", "^0")
BINARY = ("+", "-", "*", "/", "min", "max")
FUNCTIONS = ("sqrt", "rsqrt", "exp", "exp2", "expm1", "log", "log2", "log1p", "sin", "cos", "tan", "tanh", "erf",
             "sigmoid", "silu", "gelu")


def apply(op, *x):
    """Applies an operation to Fractions; raises ZeroDivisionError on division by zero."""
    if op == "+":
        return x[0] + x[1]
    if op == "-":
        return x[0] - x[1]
    if op == "*":
        return x[0] * x[1]
    if op == "/":
        return x[0] / x[1]
    if op == "fma":
        return x[0] * x[1] + x[2]
    if op == "neg":
        return -x[0]
    if op == "abs":
        return abs(x[0])
    if op == "min":
        return min(x)
    if op == "max":
        return max(x)
    if op == "relu":
        return max(x[0], Fraction(0))
    if op == "floor":
        return Fraction(x[0].__floor__())
    if op == "ceil":
        return Fraction(x[0].__ceil__())
    if op == "round":
        return Fraction(round(x[0]))
    return x[0] ** int(op[1:])


def literal(source):
    """(word, Fraction)"""
    kind = source.random()
    if kind < 0.4:
        n = source.randint(-20, 20)
        return str(n), Fraction(n)
    if kind < 0.7:
        text = "%d.%d" % (source.randint(-99, 99), source.randint(0, 9999))
        return text, Fraction(text)
    if kind < 0.85:
        text = "%de%d" % (source.randint(1, 999), source.randint(-60, 60))
        return text, Fraction(text)
    num, den = source.randint(-99, 99), source.randint(1, 99)
    return "%d/%d" % (num, den), Fraction(num, den)


def rational_expression(source, depth):
    """(words, Fraction); raises ZeroDivisionError."""
    if depth == 0 or source.random() < 0.1:
        word, value = literal(source)
        return [word], value
    kind = source.random()
    arity = 1 if kind < 0.35 else 2 if kind < 0.9 else 3
    op = source.choice({1: UNARY, 2: BINARY, 3: ("fma",)}[arity])
    parts = [rational_expression(source, depth - 1) for _ in range(arity)]
    value = apply(op, *(part[1] for part in parts))
    return [word for part in parts for word in part[0]] + [op], value


def digits_of(value, count):
    """The nearest decimal of `count` digits, ties to even: (digits, exponent of the point)."""
    size = abs(value)
    point = len(str(size.numerator)) - len(str(size.denominator))
    while size >= Fraction(10) ** point:
        point += 1
    while size < Fraction(10) ** (point - 1):
        point -= 1
    digits = str(round(size * Fraction(10) ** (count - point)))
    if len(digits) > count:
        digits, point = digits[:count], point + 1
    return digits, point


def layout(digits, point, most):
    """Formats digits as C's %g does."""
    if point > most or point <= -4:
        exponent = point - 1
        more = "." + digits[1:] if len(digits) > 1 else ""
        return "%s%se%s%02d" % (digits[0], more, "-" if exponent < 0 else "+", abs(exponent))
    if point <= 0:
        return "0." + "0" * -point + digits
    if point >= len(digits):
        return digits + "0" * (point - len(digits))
    return digits[:point] + "." + digits[point:]


def text_of(value):
    """(text, exact)"""
    sign = "-" if value < 0 else ""
    if value == 0:
        return "0", True
    rest, decimals = value.denominator, 0
    twos = fives = 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest == 1:
        decimals = max(twos, fives)
        digits = str(abs(value.numerator) * 10 ** decimals // value.denominator)
        point = len(digits) - decimals
        digits = digits.rstrip("0")
        if len(digits) <= 60:
            return sign + layout(digits, point, 60), True
    if len(str(abs(value.numerator)) + str(value.denominator)) <= 40:
        return "%d/%d" % (value.numerator, value.denominator), True
    return sign + layout(*digits_of(value, 30), 30), False


def check_rationals(tally, probe, source, count):
    requests, wants = [], []
    while len(requests) < count:
        try:
            words, value = rational_expression(source, source.randint(1, 5))
        except (ZeroDivisionError, OverflowError):
            continue
        if max(abs(value.numerator).bit_length(), value.denominator.bit_length()) > BITS_MAX // 4:
            continue
        text, exact = text_of(value)
        requests.append("T %d %s" % (PRECISION, " ".join(words)))
        wants.append("rational %d %d %s %s - -" % (0xFFFFFFFF, exact, text, exact_functions.spelled_rational(value)))
    for request, got, want in zip(requests, harness.ask(probe, requests), wants):
        tally.check(request, got, want)


def end_of(text):
    """An interval bound as an mpf."""
    if "Inf" in text:
        return mp.inf if text[0] != "-" else -mp.inf
    digits, exponent = text.split(":")
    sign = -1 if digits[0] == "-" else 1
    digits = digits.lstrip("-")
    return sign * mpmath.ldexp(mpmath.mpf(int(digits, 16)), 4 * (int(exponent) - len(digits)))


def mp_apply(op, *x):
    if op in exact_functions.FUNCTIONS:
        if op in ("log", "log2", "rsqrt") and x[0] <= 0 or op == "log1p" and x[0] <= -1:
            raise ZeroDivisionError
        return exact_functions.function(op, x[0])
    if op == "sqrt":
        if x[0] < 0:
            raise ZeroDivisionError
        return mpmath.sqrt(x[0])
    if op in ("floor", "ceil"):
        return getattr(mpmath, op)(x[0])
    if op == "round":
        return mpmath.nint(x[0])
    if op == "relu":
        return max(x[0], mpmath.mpf(0))
    if op[0] == "^" and op[1:]:
        return x[0] ** int(op[1:])
    return apply(op, *x)


def expression(source, depth):
    """(words, mpf) with functions; raises ZeroDivisionError outside their domain."""
    if depth == 0 or source.random() < 0.1:
        word, value = literal(source)
        return [word], mpmath.mpf(value.numerator) / value.denominator
    kind = source.random()
    arity = 1 if kind < 0.6 else 2 if kind < 0.95 else 3
    op = source.choice({1: UNARY[:-1] + 2 * FUNCTIONS, 2: BINARY, 3: ("fma",)}[arity])
    parts = [expression(source, depth - 1) for _ in range(arity)]
    values = [part[1] for part in parts]
    if any(abs(value) > 1e6 or (value != 0 and abs(value) < 1e-6) for value in values):
        raise ZeroDivisionError
    return [word for part in parts for word in part[0]] + [op], mp_apply(op, *values)


def check_intervals(tally, probe, source, count):
    mp.prec = 10 * PRECISION
    requests, values = [], []
    while len(requests) < count:
        try:
            words, value = expression(source, source.randint(1, 4))
        except (ZeroDivisionError, OverflowError):
            continue
        if value == 0 or not 1e-30 < abs(value) < 1e30 or any(op in words for op in ("floor", "ceil", "round")):
            continue
        requests.append("T %d %s" % (PRECISION, " ".join(words)))
        values.append(value)
    narrow = 0
    for request, got, value in zip(requests, harness.ask(probe, requests), values):
        kind, bits, _, text, first, low, high = got.split(" ")
        tally.check(request + ": class", kind in ("interval", "rational", "undecided"), True)
        if kind == "rational":
            nearest = mpmath.mpf(int(first.rstrip("+").split(":")[0], 16)) if ":" in first else mpmath.mpf(0)
            if nearest:
                nearest = mpmath.ldexp(nearest, int(first.rstrip("+").split(":")[1]))
            tally.check(request + ": close to " + first, abs(value - nearest) <= abs(value) / 2 ** 126, True)
            narrow += 1
            continue
        if kind != "interval":
            continue
        slack = abs(value) / 2 ** (8 * PRECISION)
        tally.check(request + ": within " + low + " " + high,
                    end_of(low) - slack <= value <= end_of(high) + slack, True)
        if int(bits) < 110:
            continue
        narrow += 1
        width = end_of(high) - end_of(low)
        if width > 0:
            tally.check(request + ": bits", width <= abs(value) / 2 ** (int(bits) - 1), True)
        fraction = Fraction(int(value.man)) * Fraction(2) ** int(value.exp)
        tally.check(request + ": text", text, ("-" if value < 0 else "") + layout(*digits_of(fraction, 30), 30))
    tally.check("nine tenths of the intervals are narrow", 10 * narrow > 9 * len(values), True)


def check_sums(tally, probe, source, count):
    requests, wants = [], []
    for _ in range(count):
        terms = [literal(source) for _ in range(source.randint(1, 40))]
        if source.random() < 0.5:   # numbers of one dtype only
            terms = [(repr(x), Fraction(x)) for x in (source.gauss(0, 1) * 2.0 ** source.randint(-60, 60) for _ in terms)]
            terms = [("0x%x" % abs(n) if n >= 0 else "-0x%x" % -n, Fraction(n)) for n in (int(t[1] * 2 ** 20) for t in terms)]
        dot = source.random() < 0.5 and len(terms) > 1
        if dot:
            half = len(terms) // 2
            terms = terms[:2 * half]
            value = sum((a[1] * b[1] for a, b in zip(terms[:half], terms[half:])), Fraction(0))
        else:
            value = sum((term[1] for term in terms), Fraction(0))
        text, exact = text_of(value)
        requests.append("%s %d %s" % ("D" if dot else "S", PRECISION, " ".join(term[0] for term in terms)))
        wants.append("rational %d %d %s %s - -" % (0xFFFFFFFF, exact, text, exact_functions.spelled_rational(value)))
    for request, got, want in zip(requests, harness.ask(probe, requests), wants):
        tally.check(request, got, want)


def check_errors(tally, probe, source, count):
    """Rational true values, and irrational ones rounded to a few bits."""
    requests, wants = [], []
    while len(requests) < count:
        try:
            words, value = rational_expression(source, 3)
        except (ZeroDivisionError, OverflowError):
            continue
        if max(abs(value.numerator).bit_length(), value.denominator.bit_length()) > 2000:
            continue
        significand, exponent = source.getrandbits(24), source.randint(-30, 10)
        stored = Fraction(significand) * Fraction(2) ** exponent
        number = "0" if significand == 0 else "%x:%d" % (significand, exponent)
        difference = stored - value
        relative = exact_functions.spelled_rational(difference / abs(value)) if value else "nan:8000000000000000"
        requests.append("E %d %s %s" % (PRECISION, number, " ".join(words)))
        wants.append(exact_functions.spelled_rational(difference) + " " + relative)
    for request, got, want in zip(requests, harness.ask(probe, requests), wants):
        tally.check(request, got, want)
    mp.prec = 10 * PRECISION
    requests, wants = [], []
    for _ in range(count // 4):
        name = source.choice([f for f in FUNCTIONS if f != "sqrt"])
        x = Fraction(source.randint(1, 4000), 1024)
        value = exact_functions.function(name, exact_functions.number(x))
        if exact_functions.exact(name, x) is not None or not value:
            continue
        size = mpmath.floor(mpmath.log(abs(value), 2))
        stored = int(mpmath.nint(mpmath.ldexp(abs(value), int(23 - size))))
        requests.append("E %d %s%x:%d %d/1024" % (PRECISION, "-" if value < 0 else "", stored, size - 23,
                                                  x * 1024) + " " + name)
        difference = mpmath.ldexp(mpmath.mpf(stored), int(size - 23)) * mpmath.sign(value) - value
        wants.append((difference, difference / abs(value)))
    for request, got, want in zip(requests, harness.ask(probe, requests), wants):
        for text, number in zip(got.split(), want):
            digits, exponent = text.lstrip("-").rstrip("+").split(":")
            near = mpmath.ldexp(mpmath.mpf(int(digits, 16)), int(exponent)) * (-1 if text[0] == "-" else 1)
            tally.check(request + " " + text, abs(near - number) <= abs(number) / 2 ** 120, True)


FIXED = (
    # special classes, and values that are only limits
    ("1 0 /", "undefined 4294967295 0 nan - - -"),
    ("0 0 /", "undefined 4294967295 0 nan - - -"),
    ("0 log", "infinite 4294967295 1 -inf -inf - -"),
    ("-1 log", "undefined 4294967295 0 nan - - -"),
    ("-1 sqrt", "undefined 4294967295 0 nan - - -"),
    ("2 exp neg sqrt", "undefined 4294967295 0 nan - - -"),
    ("0 rsqrt", "infinite 4294967295 1 inf inf - -"),
    ("-1 log1p", "infinite 4294967295 1 -inf -inf - -"),
    ("0 ^-2", "infinite 4294967295 1 inf inf - -"),
    ("0 ^-1", "undefined 4294967295 0 nan - - -"),
    ("nan ^0", "rational 4294967295 1 1 80000000000000000000000000000000:-127 - -"),
    ("nan 1 +", "undefined 4294967295 0 nan - - -"),
    ("inf inf -", "undefined 4294967295 0 nan - - -"),
    ("inf 1e300 -", "infinite 4294967295 1 inf inf - -"),
    ("inf 0 *", "undefined 4294967295 0 nan - - -"),
    ("inf -2 exp neg *", "infinite 4294967295 1 -inf -inf - -"),
    ("3 inf /", "rational 4294967295 1 0 0 - -"),
    ("inf inf /", "undefined 4294967295 0 nan - - -"),
    ("-inf exp", "rational 4294967295 1 0 0 - -"),
    ("-inf expm1", "rational 4294967295 1 -1 -80000000000000000000000000000000:-127 - -"),
    ("-inf tanh", "rational 4294967295 1 -1 -80000000000000000000000000000000:-127 - -"),
    ("inf sigmoid", "rational 4294967295 1 1 80000000000000000000000000000000:-127 - -"),
    ("-inf silu", "rational 4294967295 1 0 0 - -"),
    ("-inf gelu", "rational 4294967295 1 0 0 - -"),
    ("inf sin", "undefined 4294967295 0 nan - - -"),
    ("-inf ^3", "infinite 4294967295 1 -inf -inf - -"),
    ("-inf ^-3", "rational 4294967295 1 0 0 - -"),
    ("-inf abs", "infinite 4294967295 1 inf inf - -"),
    ("-inf 2 max", "rational 4294967295 1 2 80000000000000000000000000000000:-126 - -"),
    ("inf 2 max", "infinite 4294967295 1 inf inf - -"),
    ("2 -inf min", "infinite 4294967295 1 -inf -inf - -"),
    ("-inf relu", "rational 4294967295 1 0 0 - -"),
    # rational only for some arguments
    ("1/4 rsqrt", "rational 4294967295 1 2 80000000000000000000000000000000:-126 - -"),
    ("4/9 sqrt", "rational 4294967295 1 2/3 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:-128+ - -"),
    ("1 log", "rational 4294967295 1 0 0 - -"),
    ("0x1p-9000 log2", "rational 4294967295 1 -9000 -8ca00000000000000000000000000000:-114 - -"),
    ("-3 exp2", "rational 4294967295 1 0.125 80000000000000000000000000000000:-130 - -"),
    ("0 sigmoid", "rational 4294967295 1 0.5 80000000000000000000000000000000:-128 - -"),
    ("0 cos", "rational 4294967295 1 1 80000000000000000000000000000000:-127 - -"),
    ("2 sqrt 0 *", "rational 4294967295 1 0 0 - -"),
    ("2 sqrt floor", "rational 4294967295 1 1 80000000000000000000000000000000:-127 - -"),
    ("2 sqrt 1 max 1 min", "rational 4294967295 1 1 80000000000000000000000000000000:-127 - -"),
)
# Expressions taken as the 128-bit number within a narrow interval; and cases that no precision decides.
TAKEN = (
    ("2 log exp", "2.00000000000000000000000000000", "80000000000000000000000000000000:-126"),
    ("1 sin ^2 1 cos ^2 +", "1.00000000000000000000000000000", "80000000000000000000000000000000:-127"),
    ("1e1000000", "1.00000000000000000000000000000e+1000000", None),
    ("10 ^1000000 ^-1", "1.00000000000000000000000000000e-1000000", None),
    ("1 exp 1 exp -", "-", "-"),
    ("2 log exp 2 - rsqrt", "-", "-"),
    ("1 2 log exp 2 - /", "-", "-"),
    ("10 exp exp exp sin", "-", "-"),
)


def check_fixed(tally, probe):
    for (words, want), got in zip(FIXED, harness.ask(probe, ["T 192 " + words for words, _ in FIXED])):
        tally.check(words, got, want)
    for (words, text, value), got in zip(TAKEN, harness.ask(probe, ["T 192 " + row[0] for row in TAKEN])):
        tally.check(words, got.split(" ")[3], text)
        if value is not None:
            tally.check(words, got.split(" ")[4], value)
    longest = "1" * 30000
    for words in (longest, longest + "e-29999", "0x" + "f" * 20000, "1/3 ^50000", "1e-1000000000000", "1e1000000000000"):
        got = harness.ask(probe, ["T 192 " + words])[0].split(" ")
        tally.check(words[:20], got[0], "interval")


def main():
    probe, long = harness.arguments()
    tally = harness.Tally()
    source = random.Random(754)
    scale = 40 if long else 0.3 if harness.QUICK else 1
    check_fixed(tally, probe)
    tally.part("classes")
    check_rationals(tally, probe, source, int(4000 * scale))
    tally.part("rationals")
    check_intervals(tally, probe, source, int(1500 * scale))
    tally.part("intervals")
    check_sums(tally, probe, source, int(1000 * scale))
    tally.part("sums")
    check_errors(tally, probe, source, int(1000 * scale))
    tally.part("errors")
    tally.finish()


main()
