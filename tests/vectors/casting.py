# SPDX-License-Identifier: MIT
"""What the lines of a vector file must say, computed from their inputs alone: casts, values of codes, stochastic
rounding, arithmetic. blocks.py has the block formats."""

import re
import struct
from fractions import Fraction

from philox import random_bits
from published import INF, MINUS_INF, NAN, TOO_HIGH, TOO_LOW, published
from rounded import (MODES, NO_CODE, Root, beyond, code_or_limit, stored, stored_infinity, stored_integer, stored_nan)

OVERFLOWS = ("native", "saturate", "saturate-finite")
NANS = ("quiet", "canonical")
FAR = 6000


class Number:
    """What an input means: a finite number that Python compares exactly, an infinity or a NaN."""

    def __init__(self, kind, negative, value=None, payload=0, payload_bits=0):
        self.kind, self.negative, self.value = kind, negative, value
        self.payload, self.payload_bits = payload, payload_bits


def of_text(text):
    bare = text.lstrip("+-")
    negative = text.startswith("-")
    if bare in (INF, NAN):
        return Number(bare, negative)
    if bare.startswith(("0x", "0X")):
        return Number("finite", negative, of_hexfloat(text))
    mantissa, _, power = text.lower().partition("e")
    power = min(max(int(power or 0), -FAR), FAR)        # beyond every format, so that its value matters no more
    return Number("finite", negative, Fraction(f"{mantissa}e{power}"))


def of_hexfloat(text):
    sign, whole, part, power = re.fullmatch(r"(-?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)(?:[pP]([+-]?\d+))?",
                                            text).groups()
    value = Fraction(int(whole + part, 16), 16 ** len(part)) * Fraction(2) ** int(power or 0)
    return -value if sign else value


def of_binary(code, width, exponent_bits, letter):
    """An interchange format of IEEE 754, which the struct module reads."""
    mantissa_bits = width - 1 - exponent_bits
    fraction = code & (1 << mantissa_bits) - 1
    negative = code >> width - 1 == 1
    if code >> mantissa_bits & (1 << exponent_bits) - 1 == (1 << exponent_bits) - 1:
        return Number(NAN, negative, None, fraction, mantissa_bits) if fraction else Number(INF, negative)
    value = struct.unpack(">" + letter, code.to_bytes(width // 8, "big"))[0]
    return Number("finite", negative, value)


def of_code(source, code):
    """A code of a source."""
    if source == "fp64":
        return of_binary(code, 64, 11, "d")
    if source == "fp32":
        return of_binary(code, 32, 8, "f")
    if source == "fp16":
        return of_binary(code, 16, 5, "e")
    if source == "bf16":
        wide = of_binary(code << 16, 32, 8, "f")
        wide.payload, wide.payload_bits = wide.payload >> 16, 7
        return wide
    found = re.fullmatch(r"(u?)int(\d+)", source)
    if found:
        value = code - (1 << int(found[2])) if not found[1] and code >> int(found[2]) - 1 else code
        return Number("finite", value < 0, value)
    table = published(source)
    value = table.values[code]
    negative = table.signed and code >> table.width - 1 == 1
    if value == NAN:
        bits = table.ieee[1] if table.ieee else 0
        return Number(NAN, negative and table.posit is None, None, code & (1 << bits) - 1, bits)
    if value in (INF, MINUS_INF):
        return Number(INF, value == MINUS_INF)
    return Number("finite", negative and code == table.minus_zero or value < 0, value)


def read_input(source, cell):
    return of_text(cell) if source == "text" else of_code(source, int(cell, 16))


def code_cell(table, code):
    return "-" if code is NO_CODE else f"0x{code:0{(table.width + 3) // 4}x}"


def is_integer(table):
    return table.kind in ("int", "bool")


def policies_of(table):
    return OVERFLOWS + (("wrap",) if is_integer(table) else ())


def stored_under(table, number, mode, policy, rule):
    """The code of an input under one set of policies."""
    if is_integer(table):
        if number.kind == NAN:
            return int(table.kind == "bool")
        if number.kind == INF:
            return infinite_integer(table, number.negative, policy)
        return stored_integer(table, number.value, mode, policy)
    if number.kind == NAN:
        return stored_nan(table, number.negative, number.payload, number.payload_bits, policy, rule)
    if number.kind == INF:
        return stored_infinity(table, number.negative, policy)
    return stored(table, number.value, mode, policy)


def infinite_integer(table, negative, policy):
    if table.kind == "bool":
        return 1
    if policy == "wrap":
        return 0
    return (table.minimum if negative else table.maximum) % (1 << table.width)


class Outcome:
    """The codes of one number in every mode and under all policies, rounding once a mode."""

    def __init__(self, table, number):
        self.table, self.number = table, number
        self.places = None
        if not is_integer(table) and number.kind == "finite":
            self.places = [code_or_limit(table, number.value, mode) for mode in MODES]

    def codes(self, policy, rule):
        table, number = self.table, self.number
        if self.places is None:
            return [stored_under(table, number, mode, policy, rule) for mode in MODES]
        return [beyond(table, place, False, policy) if place in (TOO_HIGH, TOO_LOW) else
                table.zero(number.negative) if place == 0 and table.has_zero else place for place in self.places]

    def cells(self, name):
        """The cells of the line for a policy, or the reason why there is no such line."""
        table = self.table
        if name == "any":
            if self.places is not None and TOO_HIGH not in self.places and TOO_LOW not in self.places:
                return self.as_cells(self.codes("native", "quiet"))
            found = [self.codes(policy, rule) for policy in policies_of(table) for rule in NANS]
            return self.same(found, name)
        if name in NANS:
            return self.same([self.codes(policy, name) for policy in policies_of(table)], name)
        return self.same([self.codes(name, rule) for rule in NANS], name)

    def same(self, found, name):
        if any(codes != found[0] for codes in found):
            return [f"policies matter for this input, not only '{name}'"]
        return self.as_cells(found[0])

    def as_cells(self, codes):
        return [code_cell(self.table, code) for code in codes]


def cast_cells(source, target):
    """A function from the cells of a line of a cast to the cells that follow them."""
    table = published(target)
    known = [None, None]

    def expected(row):
        if known[0] != row["input"]:
            known[:] = row["input"], Outcome(table, read_input(source, row["input"]))
        return known[1].cells(row["policy"])
    return expected


def float_text(value):
    """The shortest decimal that fp64 reads as this number, as Python writes it, without a trailing .0."""
    text = repr(value)
    return text[:-2] if text.endswith(".0") else text


def hex_text(value):
    sign, digits, power = re.fullmatch(r"(-?0x[01])\.?([0-9a-f]*)p(.*)", float(value).hex()).groups()
    digits = digits.rstrip("0")
    return sign + ("." + digits if digits else "") + "p" + power


def decode_cells(target):
    table = published(target)

    def expected(row):
        code = int(row["code"], 16)
        value, kind = table.values[code], table.kind_of(code)
        if kind in (INF, NAN):
            return [kind, value, value]
        number = -0.0 if code == table.minus_zero else float(value)
        assert number == value
        return [kind, float_text(number), hex_text(number)]
    return expected


def integer_cells(target):
    """Decoding of an integer format."""
    table = published(target)

    def expected(row):
        value = of_code(target, int(row["code"], 16)).value if table.kind == "int" else int(row["code"], 16)
        return ["normal" if value else "zero", str(value), hex_text(float(value))]
    return expected


def stochastic_cells(source, target):
    table = published(target)

    def expected(row):
        word = random_bits(int(row["seed"]), int(row["index"]))
        number = read_input(source, row["input"])
        if is_integer(table) or number.kind != "finite":
            code = stored_under(table, number, "stochastic", "native", "quiet")
        else:
            code = stored(table, number.value, "stochastic", "native", word)
            if code == 0 and table.has_zero:
                code = table.zero(number.negative)
        return {"random": f"0x{word:08x}", "code": code_cell(table, code)}
    return expected


POSITIVE_NAN = Number(NAN, False)


def zero(negative):
    return Number("finite", negative, -0.0 if negative else 0)


def exact(value):
    return Number("finite", value < 0, value)


def first_nan(operands):
    return next((x for x in operands if x.kind == NAN), None)


def minus(x):
    if x.kind != "finite":
        return Number(x.kind, not x.negative, None, x.payload, x.payload_bits)
    return Number("finite", not x.negative, -Fraction(x.value))


def total(a, b):
    """IEEE 754-2019 6.3: an exact zero of unlike signs is +0, and -0 rounding down; None means that."""
    if INF in (a.kind, b.kind):
        if a.kind == b.kind:
            return a if a.negative == b.negative else POSITIVE_NAN
        return a if a.kind == INF else b
    value = Fraction(a.value) + Fraction(b.value)
    if value == 0:
        return zero(a.negative) if a.negative == b.negative else None
    return exact(value)


def product(a, b):
    negative = a.negative != b.negative
    if INF in (a.kind, b.kind):
        other = b if a.kind == INF else a
        return POSITIVE_NAN if other.kind == "finite" and other.value == 0 else Number(INF, negative)
    value = Fraction(a.value) * Fraction(b.value)
    return exact(value) if value else zero(negative)


def quotient(a, b):
    negative = a.negative != b.negative
    if a.kind == INF:
        return POSITIVE_NAN if b.kind == INF else Number(INF, negative)
    if b.kind == INF:
        return zero(negative)
    if b.value == 0:
        return POSITIVE_NAN if a.value == 0 else Number(INF, negative)
    value = Fraction(a.value) / Fraction(b.value)
    return exact(value) if value else zero(negative)


def root(a):
    if a.kind == "finite" and a.value == 0:
        return a
    if a.negative:
        return POSITIVE_NAN
    return a if a.kind == INF else Number("finite", False, Root(Fraction(a.value)))


def result(operation, operands):
    """The exact result as a Number; None for a zero whose sign depends on the mode."""
    if operation == "fma":
        a, b, c = operands
        if NAN not in (a.kind, b.kind) and product(a, b).kind == NAN:
            return POSITIVE_NAN
        return first_nan(operands) or total(product(a, b), c)
    if first_nan(operands):
        return first_nan(operands)
    if operation == "sub":
        return total(operands[0], minus(operands[1]))
    return {"add": total, "mul": product, "div": quotient, "sqrt": root}[operation](*operands)


class SignedByMode(Outcome):
    """An exact zero of unlike signs."""

    def __init__(self, table):
        super().__init__(table, zero(False))

    def codes(self, policy, rule):
        plus = super().codes(policy, rule)
        down = MODES.index("down")
        plus[down] = stored(self.table, -0.0, "down", policy)
        return plus


def arith_cells(operation, target):
    table = published(target)
    known = [None, None]

    def expected(row):
        cells = tuple(row[name] for name in "abc" if name in row)
        if known[0] != cells:
            found = result(operation, [of_code(target, int(cell, 16)) for cell in cells])
            known[:] = cells, SignedByMode(table) if found is None else Outcome(table, found)
        return known[1].cells(row["policy"])
    return expected
