# SPDX-License-Identifier: MIT
"""Functions on single numbers and formats, which are loaded when they are first used."""
from os import PathLike

from . import _dtinfo
from ._results import Bits, BlockFormat, CalcReport, CastValue, QuantizeReport


def cast_value(number, dtype, *, round=None, overflow=None, nan=None, like=None, via=None, seed=0):
    """Casts one number, exactly: an int, float, Fraction, Decimal, or a text such as '1/3', '0x1.8p3', '0.1', 'inf'.

    Returns a CastValue. Arguments as for cast(). Raises ArgumentError for a text that is no number.
    """
    policies = {"round": round, "overflow": overflow, "nan": nan, "like": like, "via": via, "seed": seed}
    return CastValue(number, dtype, policies)


def bits(code, dtype):
    """The number that a code stands for, and the fields of its bits."""
    return Bits(code, dtype)


def _array(value, name):
    """Numbers of Python as an array; arrays as they are."""
    if isinstance(value, (list, tuple, int, float)):
        wide = _dtinfo.cast(value, "fp64", report=True)
        return wide[0]
    return value


def calc(expression, dtype, operands=None, *, round=None, overflow=None, nan=None, seed=0, accumulate=None, order=None,
         flush=False, fma=False, truth=False, report=False, **arrays):
    """Evaluates an expression in a dtype, with one rounding for each literal and operation.

    expression: as for `dtinfo calc`: operators, functions, sums, matmul(x, w) ...; its names are those of the arrays,
        which are keyword arguments, or in a dict `operands`.
    accumulate: the dtype that reductions compute in. order: of sums, 'sequential', 'pairwise' or 'kahan'.
    flush: subnormal results become zero. fma: a*b + c, dot and matmul round once.
    truth: also compare with true values. report: also return what went wrong: (result, CalcReport).

    Returns an array of the library of the first array. Raises ArgumentError, UnavailableError (a function needs libmpfr).
    """
    given = {name: _array(value, name) for name, value in {**(operands or {}), **arrays}.items()}
    result, facts = _dtinfo.calc(expression, dtype, given, round=round, overflow=overflow, nan=nan, seed=seed,
                                 accumulate=accumulate, order=order, flush=flush, fma=fma, truth=truth)
    return (result, CalcReport(facts)) if report else result


def compare(a, b, *, atol=0.0, rtol=0.0, src=None, src_b=None, **options):
    """How two arrays of one shape differ; b is the reference. NaNs match, and so do equal infinities.

    src, src_b: the arrays hold codes of these dtypes. Returns a Difference, which is true if they differ.
    For two paths, what `dtinfo compare A B --json` prints, with the options of that command: a Document, whose `ok` is
    true if they are equal.
    """
    if all(isinstance(side, (str, PathLike)) for side in (a, b)):
        from ._rewrite import compare_files
        return compare_files(a, b, {"atol": atol or None, "rtol": rtol or None, **options})
    if options:
        raise TypeError("%s is for files" % next(iter(options)))
    return _dtinfo.compare_arrays(_array(a, "a"), _array(b, "b"), atol=atol, rtol=rtol, src=src, src_b=src_b)


_TEXTS = ("scale", "zero_point", "min", "max", "tensor_scale")


def _options(options):
    from ._helpers import number_text
    return {name: number_text(value) if name in _TEXTS and value is not None and not isinstance(value, str) else value
            for name, value in options.items()}


def _library(array):
    root = type(array).__module__.partition(".")[0]
    return root if root in ("numpy", "torch") else None


class Quantized:
    """A quantized array: codes with scales.

    format, shape: of the array. codes: an Array of the format's code dtype; of bytes for codes below 8 bits, which are
    packed, and for types of GGUF. scales, zero_points (int32), nested_scales, nested_map: Arrays, or None for parts
    that the format does not have. tensor_scale: a float or None. options: those of quantize(). report: the error after
    the way back, if it was asked for.

    One can be made from parts that were stored elsewhere.
    """

    def __init__(self, format, shape, codes, scales=None, zero_points=None, tensor_scale=None, nested_scales=None,
                 nested_map=None, **options):
        self.format, self.shape, self.options = format, tuple(shape), options
        self.codes, self.scales, self.zero_points = codes, scales, zero_points
        self.nested_scales, self.nested_map, self.tensor_scale = nested_scales, nested_map, tensor_scale
        self.report = self._kind = None

    @property
    def nbytes(self):
        """Bytes of all parts."""
        parts = (self.codes, self.scales, self.zero_points, self.nested_scales, self.nested_map)
        return sum(memoryview(part).nbytes for part in parts if part is not None) + 4 * (self.tensor_scale is not None)

    def dequantize(self, dtype="fp32"):
        """The numbers in a float dtype: fp32 arithmetic, then one rounding."""
        parts = {name: getattr(self, name) for name in ("codes", "scales", "zero_points", "nested_scales", "nested_map",
                                                        "tensor_scale") if getattr(self, name) is not None}
        array = _dtinfo.dequantize(parts, self.format, self.shape, dtype, **_options(self.options))
        if self._kind and getattr(array.dtype, self._kind) is not None:
            return getattr(array, self._kind)()
        return array

    def __repr__(self):
        shape = "x".join(map(str, self.shape)) or "scalar"
        parts = [name for name in ("scales", "zero_points", "tensor_scale", "nested_scales")
                 if getattr(self, name) is not None]
        return "Quantized(%s numbers as %s, %d bytes%s)" % (
            shape, self.format, self.nbytes, ": codes, " + ", ".join(parts) if parts else "")


def quantize(array, format, *, per=None, axis=None, block=None, symmetric=False, affine=False, symmetry=None,
             division=None, like=None, mx_scale=None, nv_scale=None, tensor_scale=None, min=None, max=None, scale=None,
             zero_point=None, packing=None, nested=False, pad=False, gguf=False, report=False):
    """Quantizes an array: codes with scales, the same as in the files that `dtinfo quant` writes.

    format: a dtype ('int8', 'uint4', 'fp8_e4m3fn': affine), a block format ('mxfp4', 'nvfp4', 'nf4' ...), or a type of
        GGUF ('q4_k'; gguf=True for names that are both, such as 'q8_0'). blocks() lists them.
    per: 'tensor', 'channel' or 'block'; axis: of channels, groups and blocks; block: elements that share a scale.
    The others are the options of `dtinfo quant` of the same names. Options without effect on the format are errors.
    report: fill the result's `report`.

    Returns a Quantized. Raises ArgumentError, UnknownDtypeError.
    """
    options = dict(per=per, axis=axis, block=block, symmetric=symmetric, affine=affine, symmetry=symmetry,
                   division=division, like=like, mx_scale=mx_scale, nv_scale=nv_scale, tensor_scale=tensor_scale,
                   min=min, max=max, scale=scale, zero_point=zero_point, packing=packing, nested=nested, pad=pad,
                   gguf=gguf)
    options = {name: value for name, value in options.items() if value is not None and value is not False}
    given = _array(array, "array")
    parts, whole, loss = _dtinfo.quantize(given, format, report=report, **_options(options))
    shape = given.shape if hasattr(given, "shape") else memoryview(given).shape
    result = Quantized(format, shape, tensor_scale=whole, **parts, **{})
    result.options, result._kind = options, _library(given)
    result.report = QuantizeReport(loss, format) if loss else None
    return result


def dequantize(quantized, dtype="fp32"):
    """The numbers of a Quantized in a float dtype."""
    return quantized.dequantize(dtype)


def blocks():
    """The block formats and types of GGUF: a list of records with name, summary, code, scale, length, bytes, gguf and
    encodes (whether quantize() makes it)."""
    return [BlockFormat(facts) for facts in _dtinfo.blocks()]
