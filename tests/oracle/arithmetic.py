# SPDX-License-Identifier: MIT
"""Operations on exact rationals: the reference for arithmetic, and the pipe to arith_probe."""

import array
import math
import subprocess
import sys
from fractions import Fraction

from formats import INF, NAN

ARITH_INVALID, ARITH_BY_ZERO = 1 << 8, 2 << 8


class Probe:
    """arith_probe, queried with arrays of codes."""

    def __init__(self, path):
        self.path = path

    def ask(self, requests):
        """requests: (operation, dtype, round, overflow, seed, operands), with operands as bytes of three 64-bit codes
        per record. Each answer is an array('Q'): code, flags, code, flags ..."""
        data = b"".join(
            f"{op} {dtype} {mode} {overflow} {seed:x} {len(operands) // 24}\n".encode() + operands
            for op, dtype, mode, overflow, seed, operands in requests)
        done = subprocess.run([self.path], input=data, stdout=subprocess.PIPE, check=False)
        if done.returncode != 0:
            sys.exit(f"the probe ended with status {done.returncode}")
        answers, at = [], 0
        for request in requests:
            size = len(request[5]) // 24 * 16
            answers.append(array.array("Q", done.stdout[at:at + size]))
            at += size
        return answers


def records(triples):
    flat = array.array("Q")
    for triple in triples:
        flat.extend(triple)
    return flat.tobytes()


# A number is (class, negative, magnitude); for a NaN the third item is its code, or None for a new one. A result
# before rounding also has flags. An exact zero sum of operands with opposite signs has no sign of its own: negative is
# None.

NEW_NAN = (NAN, False, None, ARITH_INVALID)


def add(a, b):
    (ca, na, va), (cb, nb, vb) = a, b
    if NAN in (ca, cb):
        return (a if ca == NAN else b) + (0,)
    if INF in (ca, cb):
        if ca == cb and na != nb:
            return NEW_NAN
        return (INF, na if ca == INF else nb, None, 0)
    total = (-va if na else va) + (-vb if nb else vb)
    if total:
        return ("finite", total < 0, abs(total), 0)
    return ("zero", na if na == nb else None, Fraction(0), 0)


def sub(a, b):
    return add(a, b if b[0] == NAN else (b[0], not b[1], b[2]))


def mul(a, b):
    (ca, na, va), (cb, nb, vb) = a, b
    if NAN in (ca, cb):
        return (a if ca == NAN else b) + (0,)
    if INF in (ca, cb):
        return NEW_NAN if "zero" in (ca, cb) else (INF, na != nb, None, 0)
    product = va * vb
    return ("finite" if product else "zero", na != nb, product, 0)


def div(a, b):
    (ca, na, va), (cb, nb, vb) = a, b
    if NAN in (ca, cb):
        return (a if ca == NAN else b) + (0,)
    if (ca, cb) in ((INF, INF), ("zero", "zero")):
        return NEW_NAN
    if ca == INF or cb == "zero":
        return (INF, na != nb, None, 0 if ca == INF else ARITH_BY_ZERO)
    if ca == "zero" or cb == INF:
        return ("zero", na != nb, Fraction(0), 0)
    return ("finite", na != nb, va / vb, 0)


def fma(a, b, c):
    product = mul(a, b)
    if product[3]:      # 0 * inf
        return (c if c[0] == NAN else (NAN, False, None)) + (product[3],)
    if product[0] == NAN:
        return product
    return add(product[:3], c)


def sqrt(a):
    """An irrational root is replaced by a number that lies between the same numbers of up to 100 bits."""
    cls, negative, value = a
    if cls == NAN:
        return a + (0,)
    if cls == "zero":
        return ("zero", negative, value, 0)
    if negative:
        return NEW_NAN
    if cls == INF:
        return (INF, False, None, 0)
    bits = 240 - value.numerator.bit_length() + value.denominator.bit_length()
    bits += bits & 1
    scaled = value * Fraction(2) ** bits
    root = math.isqrt(scaled.numerator // scaled.denominator)
    number = Fraction(root)
    if number * number != scaled:
        number += Fraction(1, 3)
    return ("finite", False, number / Fraction(2) ** (bits // 2), 0)


OPERATIONS = {"add": (2, add), "sub": (2, sub), "mul": (2, mul), "div": (2, div), "sqrt": (1, sqrt),
              "fma": (3, fma)}
