# SPDX-License-Identifier: MIT
"""What the module in C asks Python for, when it first needs it: other libraries' dtypes, and rare paths."""
import sys

from . import _dtinfo
from ._dtinfo import dtype
from ._errors import exception

__all__ = ["dtype", "exception"]

OWN, NUMPY, TORCH = 0, 1, 2


def _root(kind):
    return kind.__module__.partition(".")[0]


def _numpy_name(dtype):
    """(name, swapped) of a dtype of numpy; the name is None for bytes without a meaning."""
    import numpy
    swapped = dtype.byteorder == (">" if sys.byteorder == "little" else "<")
    if dtype.fields is None and dtype.subdtype is None:
        if dtype.kind in "biufc" and dtype.str[1:] not in ("f16", "c32"):
            return "<" + dtype.str[1:] if dtype.kind != "b" else "bool", swapped
        if dtype.type is numpy.void:
            return None, False
        if dtype.kind == "V" or _root(dtype.type) == "ml_dtypes":
            return "ml_dtypes." + dtype.name, swapped
    raise TypeError("numpy's dtype %s has no dtype of dtinfo" % dtype)


_BUILTIN = {float: "fp64", complex: "complex128", bool: "bool"}


def foreign(dtype):
    """(name, library, swapped, pairs) of another library's dtype, which is met for the first time."""
    if isinstance(dtype, type):
        if dtype in _BUILTIN:
            return _BUILTIN[dtype], OWN, False, False
        if _root(dtype) in ("numpy", "ml_dtypes"):
            import numpy
            dtype = numpy.dtype(dtype)
    root = _root(type(dtype))
    if root == "numpy":
        name, swapped = _numpy_name(dtype)
        return name, NUMPY, swapped, False
    if root == "torch":
        word = str(dtype).partition(".")[2]
        if word.startswith(("q", "bits")):
            raise TypeError("torch's dtype %s has no dtype of dtinfo" % dtype)
        return "torch." + word.removesuffix("_x2"), TORCH, False, word.endswith("_x2")
    if root in ("jax", "jaxlib", "ml_dtypes", "cupy", "mlx", "tensorflow"):
        return str(dtype).rpartition(".")[2], OWN, False, False
    raise TypeError("%r is not a dtype: give a name such as 'bf16', or a dtype of numpy, ml_dtypes or torch"
                    % (dtype,))


def native(name, library):
    """The dtype of a library for a format; None if it has none; NotImplemented if the library is not imported yet."""
    own = dtype(name)
    if library == TORCH:
        torch = sys.modules.get("torch")
        if torch is None:
            return NotImplemented
        if own.bits < 8:
            return None
        return next((found for word in own.names("torch")
                     if (found := getattr(torch, word, None)) is not None), None)
    try:
        import numpy
    except ImportError:
        return None
    # The names of numpy that ml_dtypes' rows repeat; others are those of ml_dtypes alone.
    words = own.names("ml_dtypes") + own.names("numpy")
    for word in words:
        if word in numpy.sctypeDict:
            return numpy.dtype(word)
    try:
        import ml_dtypes
    except ImportError:
        return None
    return next((numpy.dtype(getattr(ml_dtypes, word)) for word in words if hasattr(ml_dtypes, word)), None)


def numpy_empty():
    import numpy
    return numpy.empty


def numpy_of(array, dtype):
    import numpy
    return numpy.asarray(array.codes).view(dtype).reshape(array.shape)


def torch_of(array, dtype):
    import torch
    if not array.size:
        return torch.empty(array.shape, dtype=dtype)
    return torch.frombuffer(array.codes, dtype=torch.uint8).view(dtype).reshape(array.shape)


def interface(place):
    """(address, item size, read-only, name or dtype, shape, strides in bytes) of an __array_interface__."""
    typestr, shape = place["typestr"], tuple(place["shape"])
    size = int(typestr[2:])
    data = place.get("data")
    if not isinstance(data, tuple):
        raise TypeError("an __array_interface__ without an address is not supported; give its buffer")
    strides = place.get("strides")
    if strides is None:
        strides, step = [], size
        for length in reversed(shape):
            strides.insert(0, step)
            step *= max(length, 1)
    name = None
    if typestr[1] != "V":
        import numpy
        name = numpy.dtype(typestr)
    return data[0], size, bool(data[1]), name, shape, tuple(strides)


def array_list(array):
    """The numbers of an Array, which are all numbers of Python."""
    kind = array.dtype.kind
    if kind == "complex":
        wide = _dtinfo.cast(array, "complex128")
        parts = memoryview(_dtinfo.from_codes(wide.codes, "fp64")).tolist()
        return _pairs(parts, array.ndim)
    if kind in ("int", "uint"):
        if array.dtype.bits != 8 * array.dtype.itemsize:
            array = _dtinfo.cast(array, "int8" if kind == "int" else "uint8")
    elif kind != "bool":
        array = _dtinfo.cast(array, "fp64")
    return memoryview(array).tolist()


def _pairs(parts, depth):
    return complex(*parts) if depth == 0 else [_pairs(part, depth - 1) for part in parts]


def array_repr(array):
    from ._show import array_text
    return array_text(array)


def cast_report(facts, src, dst):
    from ._results import CastReport
    return CastReport(facts, src, dst)


def stats(facts, own, raw, shape):
    from ._results import Stats
    return Stats(facts, own, raw, shape)


def difference(facts, a, b):
    from ._results import Difference
    return Difference(facts, a, b)


def _flatten(values, numbers, depth):
    """Appends the numbers of nested lists, and returns their shape."""
    if not isinstance(values, (list, tuple)):
        numbers.append(values)
        return ()
    if depth > 32:
        raise ValueError("lists are nested more than 32 deep")
    shapes = {_flatten(value, numbers, depth + 1) for value in values}
    if len(shapes) > 1:
        raise ValueError("lists of one level have different lengths")
    return (len(values),) + (shapes.pop() if shapes else ())


def number_text(number):
    """A text that stands for exactly this number."""
    if isinstance(number, str):
        return number
    if isinstance(number, float):
        return repr(number) if number != number or number in (float("inf"), float("-inf")) else number.hex()
    from decimal import Decimal
    from numbers import Rational
    if isinstance(number, Rational):
        top, bottom = number.numerator, number.denominator
        return _digits(top) if bottom == 1 else "%s/%s" % (_digits(top), _digits(bottom))
    if isinstance(number, Decimal):
        return str(number)
    if hasattr(number, "__index__"):
        return _digits(number.__index__())
    raise TypeError("%r is not a number that can be cast exactly: give an int, float, Fraction, Decimal or str"
                    % (number,))


def _digits(number):
    # Hexadecimal has no limit of length, and takes time in proportion to it.
    return "%s%s" % ("-" if number < 0 else "", hex(abs(number)) + "p0")


def cast_numbers(array, dtype, *, report=False, out=None, src=None, **policies):
    """cast() of numbers of Python. Those that fp64 holds are cast as an array; others one by one."""
    if src is not None:
        raise TypeError("src= is for codes in arrays or bytes")
    numbers = []
    shape = _flatten(array, numbers, 0)
    if all(type(n) is float or (type(n) is int and -1 << 53 <= n <= 1 << 53) for n in numbers):
        import array as arrays
        wide = _dtinfo.from_codes(memoryview(arrays.array("d", numbers)).cast("B"), "fp64", shape)
        return _dtinfo.cast(wide, dtype, report=report, out=out, **policies)
    if report or out is not None:
        raise TypeError("report= and out= are for arrays and for numbers that fp64 holds")
    own = _dtinfo.dtype(dtype)
    if own.kind == "complex":
        raise TypeError("complex dtypes take arrays, or numbers that fp64 holds")
    seed = policies.pop("seed", None) or 0
    if policies.get("round") in ("stochastic", "sr", "random"):
        raise TypeError("round='stochastic' is for arrays and for numbers that fp64 holds")
    codes = [_dtinfo.value_cast(number_text(n), own, seed=seed, **policies)["code"] for n in numbers]
    data = b"".join(code.to_bytes(own.itemsize, sys.byteorder) for code in codes)
    return _dtinfo.from_codes(data, own, shape)
