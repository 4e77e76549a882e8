# SPDX-License-Identifier: MIT
"""Arithmetic against exact rationals rounded by formats.py: codes and flags, in all rounding modes and overflow
policies.

Long: all pairs for + - * / in every format of 8 bits or less, all codes for sqrt, 20,000 triples for fma. Otherwise,
and for wider formats, a sample of special codes, random codes, and codes close to the other operand.
"""

import random

import arithmetic
import formats
from formats import NAN, OVERFLOWS, ROUNDS
from harness import QUICK, Tally, arguments

SEED = 0x5eed


def interesting(fmt):
    """Zeros, the smallest, values around 1, the largest, infinities and NaN, of both signs."""
    top = fmt.max_code()
    codes = {0, 1, 2, top - 1, top, *fmt.inf, (1 << fmt.width) - 1, 1 << fmt.width - 1}
    if fmt.nan:
        codes.add(fmt.canonical_nan())
    if fmt.is_float:
        codes |= {1 << fmt.man, (1 << fmt.man) - 1, fmt.bias << fmt.man, (fmt.bias << fmt.man) + 1}
    codes |= {code | fmt.sign_bit for code in codes}
    return sorted({code & (1 << fmt.width) - 1 for code in codes})


def operands(fmt, count, long, rng):
    small = fmt.width <= 8
    if small and count == 1:
        return [(a, 0, 0) for a in range(1 << fmt.width)]
    if small and count == 2 and long:
        return [(a, b, 0) for a in range(1 << fmt.width) for b in range(1 << fmt.width)]
    special = interesting(fmt)

    def one():
        return rng.choice(special) if rng.random() < 0.3 else rng.randrange(1 << fmt.width)

    def near(code):
        """Another code, close enough in binades that a sum must round one of the two."""
        steps = rng.randrange(-fmt.man - 3, fmt.man + 4) << fmt.man
        return (code + steps + rng.randrange(-2, 3) ^ rng.choice((0, fmt.sign_bit))) \
            & (1 << fmt.width) - 1

    triples = [(a, b, 0) for a in special for b in special] if fmt.width > 32 else []
    if count == 3 and fmt.inf:
        ends = [0, fmt.bias << fmt.man, fmt.inf[0], fmt.canonical_nan() or 0]
        triples += [(a, b, c) for a in ends for b in ends for c in ends]
    for _ in range((20000 if small else 4000) if long else 20 if QUICK else 60 if count == 3 else 100):
        a = one()
        b = near(a) if rng.random() < 0.3 else one()
        triples.append((a, b, near(rng.choice((a, b))) if rng.random() < 0.5 else one()))
    return triples


class Judge:
    """The expected results of an operation; each distinct result is located once."""

    def __init__(self, fmt):
        self.fmt = fmt
        self.values, self.places = {}, {}

    def value(self, code):
        if code not in self.values:
            cls, negative, magnitude = self.fmt.decode(code)
            self.values[code] = (cls, negative, code if cls == NAN else magnitude)
        return self.values[code]

    def encode(self, result, mode, overflow):
        cls, negative, value, flags = result
        if negative is None:
            negative = mode == "down"
        place = None
        if cls == "finite" and self.fmt.is_float:
            if value not in self.places:
                self.places[value] = self.fmt.locate(value)
            place = self.places[value]
        if cls == NAN and self.fmt.ieee and value is not None:
            return value | 1 << self.fmt.man - 1, flags
        code, more = formats.encode(self.fmt, cls, negative, value, mode, overflow, SEED, 0, place)
        return code, more | flags


def check_format(tally, probe, fmt, long):
    judge = Judge(fmt)
    rng = random.Random(fmt.name)
    for op, (count, function) in arithmetic.OPERATIONS.items():
        triples = operands(fmt, count, long, rng)
        numbers, which = {}, []     # the distinct results, and which of them each record has
        for triple in triples:
            result = function(*(judge.value(code) for code in triple[:count]))
            which.append(numbers.setdefault(result, len(numbers)))
        data = arithmetic.records(triples)
        policies = [(mode, overflow) for mode in ROUNDS for overflow in OVERFLOWS]
        answers = probe.ask([(op, fmt.name, mode, overflow, SEED, data)
                             for mode, overflow in policies])
        for (mode, overflow), answer in zip(policies, answers):
            rounded = [judge.encode(result, mode, overflow) for result in numbers]
            codes, flags = answer[0::2].tolist(), answer[1::2].tolist()
            tally.checked += len(triples)
            if codes == [rounded[i][0] for i in which] and flags == [rounded[i][1] for i in which]:
                continue
            for triple, i, *got in zip(triples, which, codes, flags):
                if tuple(got) != rounded[i]:
                    tally.differ(f"{fmt.name} {op} {mode} {overflow} "
                                 + " ".join(f"{code:#x}" for code in triple[:count]),
                                 tuple(got), rounded[i])


def check_whole(tally, probe, fmt):
    """min, max and rounding to integers, which involve no other rounding."""
    judge = Judge(fmt)
    codes = range(1 << fmt.width)
    special = interesting(fmt)
    pairs = [(a, b) for a in special for b in codes]
    for op in ("min", "max"):
        answer = probe.ask([(op, fmt.name, "nearest-even", "native", 0,
                             arithmetic.records((a, b, 0) for a, b in pairs))])[0]
        for (a, b), code in zip(pairs, answer[0::2]):
            first, second = judge.value(a), judge.value(b)
            if NAN in (first[0], second[0]):
                tally.check(f"{fmt.name} {op} {a:#x} {b:#x}", code in fmt.nan, bool(fmt.nan))
                continue

            def key(value):
                size = float("inf") if value[0] == formats.INF else value[2]
                return (-size if value[1] else size, not value[1])
            want = (min if op == "min" else max)(first, second, key=key)
            tally.check(f"{fmt.name} {op} {a:#x} {b:#x}", judge.value(code), want)
    for mode in ROUNDS[:5]:
        answer = probe.ask([("integral", fmt.name, mode, "native", 0,
                             arithmetic.records((a, 0, 0) for a in codes))])[0]
        for a in codes:
            cls, negative, value = judge.value(a)
            if cls == "finite":
                whole = value // 1
                whole += formats.goes_up(mode, value - whole, bool(whole & 1), negative, 0, 0)
                cls, value = ("finite", whole) if whole else ("zero", formats.Fraction(0))
            want = judge.encode((cls, negative, value, 0), "nearest-even", "native")
            tally.check(f"{fmt.name} to integer {mode} {a:#x}", (answer[2 * a], answer[2 * a + 1]),
                        want)


def main():
    path, long = arguments()
    tally, probe = Tally(), arithmetic.Probe(path)
    rows = formats.floats() + formats.integers()
    for fmt in rows:
        check_format(tally, probe, fmt, long)
        if fmt.width <= 8 and long or fmt.name in ("fp8_e4m3fn", "fp8_e5m2", "fp4_e2m1", "binary8p3se"):
            check_whole(tally, probe, fmt)
        if long:
            tally.part(fmt.name)
    tally.part(f"{len(rows)} formats")
    tally.finish()


if __name__ == "__main__":
    main()
