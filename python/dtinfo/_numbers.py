# SPDX-License-Identifier: MIT
"""Values of the library as numbers of Python, and back."""
from fractions import Fraction

from . import _dtinfo

ZERO, FINITE, INF, NAN = range(4)
_BITS_MAX = 1 << 20  # of an exponent: a Fraction beyond takes too much memory


def number(value):
    """The number of a value: a Fraction; or a float for what Fraction lacks, which is -0.0, inf, -inf and nan.

    None if the value is not known exactly, or is too long.
    """
    kind, negative, sticky, exponent, hi, lo = value
    if kind == ZERO:
        return -0.0 if negative else Fraction(0)
    if kind != FINITE:
        return float("nan") if kind == NAN else float("-inf" if negative else "inf")
    if sticky or abs(exponent) > _BITS_MAX:
        return None
    digits = hi << 64 | lo
    shift = exponent - 127
    whole = Fraction(digits << shift) if shift >= 0 else Fraction(digits, 1 << -shift)
    return -whole if negative else whole


def exact_text(text):
    """The Fraction that a text stands for; None if it is too long or is not finite."""
    if len(text) > 20000:
        return None
    try:
        top, slash, bottom = text.partition("/")
        return _decimal(top) / _decimal(bottom) if slash else _decimal(top)
    except (ValueError, ZeroDivisionError, OverflowError):
        return None


def _decimal(text):
    low = text.lower()
    if "0x" in low or "0b" in low:
        found = number(_dtinfo.value_read(text))
        if not isinstance(found, (Fraction, float)):
            raise OverflowError
        return Fraction(found)
    mantissa, mark, exponent = low.partition("e")
    if mark and abs(int(exponent)) > 100000:
        raise OverflowError
    return Fraction(text)


def spell(value, dtype=None, spelling="shortest"):
    """The text of a value; None if there is none."""
    return _dtinfo.value_spell(value, dtype, spelling)
