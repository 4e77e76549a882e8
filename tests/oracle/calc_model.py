# SPDX-License-Identifier: MIT
"""Expressions by their definition: trees evaluated with Fractions, each step rounded by formats.py, counting events on
the way. Shared with test_calc.py; uses nothing from the C engine."""

from fractions import Fraction

import formats
from arithmetic import ARITH_BY_ZERO, ARITH_INVALID, add, div, fma, mul, sqrt, sub
from formats import INF, INVALID, NAN, OVERFLOW
from philox import philox4x32

INFIX = {"+": add, "-": sub, "*": mul, "/": div}
KINDS = ("overflow", "nan", "divide_by_zero", "to_zero", "subnormal", "absorbed")
COUNTED = 6     # event kinds; the seventh, cancellation, depends on the engine's state


def random_word(seed, stream, index):
    block = index // 4
    words = philox4x32((block % (1 << 32), block >> 32, stream, 0), (seed % (1 << 32), seed >> 32))
    return words[index % 4]


class Judge:
    """Evaluates one expression in one dtype under one set of options."""

    def __init__(self, fmt, mode, overflow, flush, contracts, order, block, seed):
        self.fmt, self.mode, self.overflow, self.flush = fmt, mode, overflow, flush
        self.contracts, self.order, self.block, self.seed = contracts, order, block, seed
        self.step, self.random = 0, 0
        self.counts = [0] * COUNTED
        self.inexact = 0
        self.quiet = self.harmless = False

    def is_subnormal(self, number):
        if not self.fmt.is_float or number[0] != "finite":
            return False
        least = -self.fmt.bias if self.fmt.scale else 1 - self.fmt.bias
        return number[2] < formats.power_of_two(least)

    def flushed(self, number):
        return ("zero", number[1], Fraction(0)) if self.flush and self.is_subnormal(number) else number

    def round(self, result, op=None, operands=()):
        """The stored number of (class, negative, magnitude, flags)."""
        cls, negative, value, flags = result
        if negative is None:
            negative = self.mode == "down"
        mode = self.mode or ("zero" if not self.fmt.is_float else "nearest-even")
        formats.random_bits = lambda seed, index: random_word(seed, self.step, index)
        code, stored_flags = formats.encode(self.fmt, cls, negative, value or Fraction(0), mode, self.overflow,
                                            self.seed, self.random)
        self.random += 1
        stored = self.fmt.decode(code)
        changed = bool(stored_flags & formats.INEXACT)
        if self.flush and self.is_subnormal(stored):
            stored, changed = ("zero", stored[1], Fraction(0)), True
            stored = self.fmt.decode(self.fmt.sign_bit if stored[1] and self.fmt.minus_zero else 0)
        if not self.quiet:
            self.inexact += changed
            self.notice((cls, negative, value), flags, stored_flags, stored, changed, op, operands)
        return stored

    def notice(self, exact, flags, stored_flags, stored, changed, op, operands):
        invalid = stored_flags & INVALID and not stored_flags & OVERFLOW and exact[0] != NAN
        found = set()
        if flags & ARITH_INVALID or invalid:
            found.add("nan")
        if flags & ARITH_BY_ZERO:
            found.add("divide_by_zero")
        elif stored_flags & OVERFLOW:
            found.add("overflow")
        if not found and exact[0] != NAN:
            if changed and stored[0] == "zero":
                found.add("to_zero")
            elif changed and self.is_subnormal(stored):
                found.add("subnormal")
            if changed and not self.harmless and self.absorbs(stored, op, operands):
                found.add("absorbed")
        for kind in found:
            self.counts[KINDS.index(kind)] += 1

    @staticmethod
    def absorbs(stored, op, operands):
        if op not in ("+", "-", "fma") or stored[0] != "finite":
            return False
        if op == "fma":
            product = mul(operands[0], operands[1])[:3]
            return (product[0] == operands[2][0] == "finite" and stored in (product, operands[2]))
        a, b = operands
        if op == "-":
            b = (b[0], not b[1], b[2])
        return a[0] == b[0] == "finite" and stored in (a, b)

    # Nodes: ("number", text), ("list", [texts]), (operator, a, b), (function, a ...). A list is a Python list of
    # numbers.

    def literal(self, text):
        special = {"inf": (INF, False, None), "-inf": (INF, True, None), "nan": (NAN, False, None)}.get(text)
        if special:
            return self.round(special + (0,))
        value = Fraction(text)
        return self.round(("finite" if value else "zero", text.startswith("-"), abs(value), 0))

    def begin(self):
        self.random = 0

    def end(self, result):
        self.step += 1
        return result

    def elementwise(self, op, function, operands):
        length = max([len(x) for x in operands if isinstance(x, list)], default=None)
        self.begin()
        if length is None:
            return self.end(self.one(op, function, operands))
        return self.end([self.one(op, function, [x[i] if isinstance(x, list) else x for x in operands])
                         for i in range(length)])

    def one(self, op, function, operands):
        operands = [self.flushed(x) for x in operands]
        return self.round(function(*operands), op, operands)

    def evaluate(self, tree):
        kind = tree[0]
        if kind == "number":
            self.begin()
            return self.end(self.literal(tree[1]))
        if kind == "list":
            self.begin()
            return self.end([self.literal(text) for text in tree[1]])
        if kind in ("+", "-") and self.contracts:
            for i in (1, 2):
                if tree[i][0] == "*":
                    return self.contracted(tree, i)
        operands = [self.evaluate(x) for x in tree[1:]]
        if kind in INFIX:
            return self.elementwise(kind, INFIX[kind], operands)
        if kind in ("sum", "prod", "dot"):
            self.begin()
            return self.end(self.reduce(kind, operands))
        functions = {"sqrt": sqrt, "fma": fma, "neg": lambda a: (a[0], not a[1], a[2], 0),
                     "abs": lambda a: (a[0], False, a[2], 0), "square": lambda a: mul(a, a)}
        return self.elementwise(kind, functions[kind], operands)

    def contracted(self, tree, i):
        other = 3 - i
        if i == 1:
            a, b = self.evaluate(tree[1][1]), self.evaluate(tree[1][2])
            c = self.evaluate(tree[other])
        else:
            c = self.evaluate(tree[other])
            a, b = self.evaluate(tree[2][1]), self.evaluate(tree[2][2])

        def turn(x):
            return [turn(y) for y in x] if isinstance(x, list) else (x[0], not x[1], x[2])
        if tree[0] == "-":
            a, c = (a, turn(c)) if i == 1 else (turn(a), c)
        return self.elementwise("fma", fma, [a, b, c])

    def reduce(self, kind, operands):
        combine = "*" if kind == "prod" else "+"
        lists = [x if isinstance(x, list) else [x] for x in operands]

        def term(i):
            if kind != "dot":
                return self.flushed(lists[0][i])
            return self.one("*", mul, [x[i] for x in lists])

        def sequential(first, count):
            total = term(first)
            for i in range(first + 1, first + count):
                if self.contracts and kind == "dot":
                    total = self.one("fma", fma, [lists[0][i], lists[1][i], total])
                else:
                    total = self.one(combine, INFIX[combine], [total, term(i)])
            return total

        def pairwise(first, count):
            if count == 1:
                return term(first)
            half = 1 << (count - 1).bit_length() - 1
            return self.one(combine, INFIX[combine],
                            [pairwise(first, half), pairwise(first + half, count - half)])

        def silently(op, a, b):
            self.quiet = True
            result = self.one(op, INFIX[op], [a, b])
            self.quiet = False
            return result

        def kahan(count):
            total, correction = term(0), ("zero", False, Fraction(0))
            for i in range(1, count):
                corrected = silently("-", term(i), correction)
                self.harmless = True
                after = self.one("+", add, [total, corrected])
                self.harmless = False
                correction = silently("-", silently("-", after, total), corrected)
                total = after
            return total

        count = len(lists[0])
        if self.order == "pairwise":
            return pairwise(0, count)
        if self.order == "kahan" and kind != "prod":
            return kahan(count)
        if self.order == "blocked":
            total = None
            for first in range(0, count, self.block):
                part = sequential(first, min(self.block, count - first))
                total = part if first == 0 else self.one(combine, INFIX[combine], [total, part])
            return total
        return sequential(0, count)
