# SPDX-License-Identifier: MIT
"""Rounding by the exact values themselves: a number is a significand times a power of two, and so is each number of a format, and
each border between two of them. They are compared with all their bits where they belong; nothing is rounded, and no float is used.

A magnitude index is a float's code without its sign, and an integer's magnitude. A code is right if its index is the last one that
is not above the number and the number does not round up from there, or if the number rounds up from the index before."""
import z3

from lanes import POLICIES, chosen, negative_into_unsigned

EXPONENT = 28  # bits of exponents, signed


def fields(fmt, index):
    """Significand and exponent of the last bit of a magnitude index."""
    width = index.size()
    if not fmt.is_float:
        return index, z3.BitVecVal(0, EXPONENT)
    field, mantissa = z3.LShR(index, fmt.man), index & ((1 << fmt.man) - 1)
    wide = z3.ZeroExt(EXPONENT - width, field) if width < EXPONENT else z3.Extract(EXPONENT - 1, 0, field)
    if fmt.scale:
        return z3.BitVecVal(1, width), wide - fmt.bias
    significand = z3.If(field == 0, mantissa, mantissa | (1 << fmt.man))
    return significand, z3.If(wide == 0, z3.BitVecVal(1, EXPONENT), wide) - (fmt.bias + fmt.man)


def at_least(first, second):
    """Whether one significand times a power of two is another one or more."""
    (x, ex), (b, eb) = first, second
    width = max(x.size() + b.size() + 2, EXPONENT)

    def shifted(value, count, most):
        by = z3.ZeroExt(width - EXPONENT, count)
        return z3.ZeroExt(width - value.size(), value) << by, z3.UGT(count, most)
    (left, far_left), (right, far_right) = shifted(x, ex - eb, b.size()), shifted(b, eb - ex, x.size())
    # Shifted further than the other one is long, all but zero is larger.
    above = z3.If(far_left, z3.Or(x != 0, b == 0), z3.UGE(left, z3.ZeroExt(width - b.size(), b)))
    below = z3.If(far_right, b == 0, z3.UGE(z3.ZeroExt(width - x.size(), x), right))
    return z3.If(ex - eb >= 0, above, below)


class Rounding:
    """A finite number that is not zero and a format, under a rounding mode. number: (significand, exponent of its last bit);
    random: the random word of stochastic rounding."""

    def __init__(self, fmt, mode, number, negative, random=None):
        self.fmt, self.mode, self.number, self.negative, self.random = fmt, mode, number, negative, random

    def border(self, index, part, bits):
        """The number part / 2^bits of the way from an index to the next one."""
        significand, exponent = fields(self.fmt, index)
        # A significand has a bit more than the mantissa, and the border may be that of the next one.
        size = (self.fmt.man + 2 if self.fmt.is_float else index.size() + 1) + bits
        wide = z3.ZeroExt(size - significand.size(), significand) if size > significand.size() else z3.Extract(size - 1, 0, significand)
        part = part if isinstance(part, int) else z3.ZeroExt(size - part.size(), part)
        return (wide << bits) + part, exponent - bits

    def from_on(self, index, part, bits):
        return at_least(self.number, self.border(index, part, bits))

    def beyond(self, index, part, bits):
        return z3.Not(at_least(self.border(index, part, bits), self.number))

    def here(self, index):
        """Whether an index is the last one that is not above the number."""
        return z3.And(self.from_on(index, 0, 1), z3.Not(self.from_on(index, 2, 1)))

    def odd(self, index):
        if not self.fmt.is_float or self.fmt.man > 0 or self.fmt.even_code:
            return z3.Extract(0, 0, index) == 1
        return z3.BoolVal(True) if self.fmt.scale else index != 0

    def rises(self, index):
        """Whether the number rounds up from an index that is here."""
        if self.mode == "nearest-even":
            return z3.Or(self.beyond(index, 1, 1), z3.And(self.from_on(index, 1, 1), self.odd(index)))
        if self.mode == "nearest-away":
            return self.from_on(index, 1, 1)
        if self.mode == "stochastic":  # d 2^32 >= 2^32 - R
            return self.from_on(index, (z3.BitVecVal(1, 33) << 32) - z3.ZeroExt(1, self.random), 32)
        if self.mode == "odd":
            return z3.And(self.beyond(index, 0, 1), z3.Not(self.odd(index)))
        if self.mode == "zero":
            return z3.BoolVal(False)
        return z3.And(self.beyond(index, 0, 1), z3.Not(self.negative) if self.mode == "up" else self.negative)

    def becomes(self, index, size):
        """Whether the number rounds to an index, a term of at least `size` bits that holds it in the lowest ones."""
        index = z3.Extract(size - 1, 0, index)
        stays = z3.And(self.here(index), z3.Not(self.rises(index)))
        return z3.Or(stays, z3.And(index != 0, self.here(index - 1), self.rises(index - 1)))

    def overflows(self, last, size):
        """Whether the number rounds to more than the index `last`."""
        top = z3.BitVecVal(last, size)
        return z3.Or(self.from_on(top, 2, 1), z3.And(self.from_on(top, 0, 1), self.rises(top)))

    def float_right(self, policy, code, beyond, inside=None):
        """Whether a code is right. beyond: what must hold where the number rounds to more than the largest one; inside: what must
        hold besides for numbers that are stored, a function of the index."""
        fmt, width = self.fmt, code.size()
        size = max(fmt.max_index.bit_length() + 1, 2)
        magnitude = z3.ZeroExt(size, code & (((1 << width) - 1) ^ fmt.sign_bit))
        index = z3.Extract(size - 1, 0, magnitude)
        stored = z3.And(z3.ULE(magnitude, fmt.max_index), self.becomes(index, size), self.sign_right(code, magnitude),
                        inside(index) if inside else z3.BoolVal(True))
        first = z3.BitVecVal(0, size)
        small = z3.Not(self.from_on(first, 0, 1)) if fmt.scale else z3.BoolVal(False)  # all below the smallest becomes it
        goal = z3.If(self.overflows(fmt.max_index, size), beyond, z3.If(small, code == 0, stored))
        if fmt.signed:
            return goal
        wrong = code == chosen(policy, [negative_into_unsigned(fmt, overflow, False)[0] for overflow, _ in POLICIES], width)
        to_zero = z3.BoolVal(False) if fmt.scale else self.becomes(first, size)
        return z3.If(self.negative, z3.If(to_zero, code == 0, wrong), goal)

    def sign_right(self, code, magnitude):
        fmt, width = self.fmt, code.size()
        if not fmt.signed:
            return z3.BoolVal(True)
        marked = z3.And(self.negative, z3.Or(magnitude != 0, z3.BoolVal(bool(fmt.minus_zero))))
        return code & fmt.sign_bit == z3.If(marked, z3.BitVecVal(fmt.sign_bit, width), z3.BitVecVal(0, width))

    def integer_right(self, code):
        """Whether a code of an integer format is right where it clamps."""
        fmt, width, size = self.fmt, code.size(), self.fmt.width + 2
        mask = (1 << fmt.width) - 1

        def of_sign(minus):
            last = 0 if minus and not fmt.signed else fmt.max_code() + minus
            magnitude = (-code if minus else code) & mask
            index = z3.ZeroExt(size - width, magnitude) if size > width else z3.Extract(size - 1, 0, magnitude)
            limit = fmt.lowest_code() if minus else fmt.max_code()
            return z3.If(self.overflows(last, size), code == limit,
                         z3.And(code & mask == code, z3.ULE(magnitude, last), self.becomes(index, size)))
        return z3.If(self.negative, of_sign(True), of_sign(False))
