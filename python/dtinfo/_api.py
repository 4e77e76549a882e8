# SPDX-License-Identifier: MIT
"""Functions on single numbers and formats, which are loaded when they are first used."""
from . import _dtinfo
from ._results import Bits, CastValue, Difference, Stats, finfo, iinfo

__all__ = ["bits", "cast_value", "finfo", "iinfo"]


def cast_value(number, dtype, *, round=None, overflow=None, nan=None, like=None, via=None, seed=0):
    """Casts one number, exactly: an int, float, Fraction, Decimal, or a text such as '1/3', '0x1.8p3', '0.1', 'inf'.

    Returns a CastValue. Arguments as for cast(). Raises ArgumentError for a text that is no number.
    """
    policies = {"round": round, "overflow": overflow, "nan": nan, "like": like, "via": via, "seed": seed}
    return CastValue(number, dtype, policies)


def bits(code, dtype):
    """The number that a code stands for, and the fields of its bits."""
    return Bits(code, dtype)
