# SPDX-License-Identifier: MIT
"""Assertions for tests, of pytest or others."""
from . import _dtinfo
from ._api import _array
from ._numbers import spell

__all__ = ["assert_close_in_ulps", "assert_fits"]


def _number_at(array, index):
    flat = memoryview(array.codes).cast("B")
    size = array.dtype.itemsize
    code = int.from_bytes(flat[index * size:(index + 1) * size], __import__("sys").byteorder)
    return spell(_dtinfo.value_of_code(code, array.dtype)) or "?"


def assert_close_in_ulps(actual, desired, dtype, ulps=2):
    """Fails unless both arrays, rounded to a dtype, are at most so many of its numbers apart.

    Both are cast to dtype first, to nearest even. NaNs match, and so do equal infinities; a NaN or infinity on one side
    never does. Raises AssertionError, with how far apart they are and where; ValueError for different shapes.
    """
    __tracebackhide__ = True
    a, b = (_own(_dtinfo.cast(_array(array, "array"), dtype)) for array in (actual, desired))
    found = _dtinfo.compare_arrays(a, b)
    if found.unmatched:
        index = found.first_unmatched
        raise AssertionError("%d of %d elements are NaN or infinite on one side; the first is element %d: %s, not %s" % (
            found.unmatched, found.elements, index, _number_at(a, index), _number_at(b, index)))
    if found.differing and not found.max_ulp <= ulps:
        index = found.max_index
        raise AssertionError(
            "%d of %d elements differ, by up to %g ulp of %s (allowed: %g); the largest difference is %g, at element %d: "
            "%s, not %s" % (found.differing, found.elements, found.max_ulp, a.dtype, ulps, found.max_absolute, index,
                            _number_at(a, index), _number_at(b, index)))


def _own(array):
    """An array as an Array."""
    if isinstance(array, _dtinfo.Array):
        return array
    dtype, shape = _dtinfo.describe(array)
    codes = _dtinfo.cast(array, dtype, out=_dtinfo.empty(dtype, shape))
    return codes


def assert_fits(array, dtype):
    """Fails unless all finite numbers of an array round to finite numbers of a dtype, which also has NaN and infinity
    if the array does. Raises AssertionError, with the number that does not fit and where it is."""
    __tracebackhide__ = True
    given = _array(array, "array")
    stats = _dtinfo.stats(given)
    if stats.fits(dtype):
        return
    dtype = _dtinfo.dtype(dtype)
    info = _dtinfo.format_info(dtype)
    if stats.nan and not info["has_nan"]:
        raise AssertionError("element %d is NaN, which %s does not have" % (stats.first_nan, dtype))
    if stats.inf and not info["has_inf"]:
        raise AssertionError("element %d is infinite, which %s does not have" % (stats.first_inf, dtype))
    for value, index in ((stats.max, stats.max_index), (stats.min, stats.min_index)):
        found = _dtinfo.value_cast("%s/%s" % (value.numerator, value.denominator), dtype)
        if found["flags"] & 2 or found["flags"] & 8:
            raise AssertionError("element %d is %g, beyond the range of %s, %s to %s" % (
                index, value, dtype, spell(info["lowest"]), spell(info["max"])))
    raise AssertionError("the array does not fit %s" % dtype)
