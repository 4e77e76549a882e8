# SPDX-License-Identifier: MIT
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias, overload

from . import testing as testing
from ._dtinfo import Array as Array
from ._dtinfo import Dtype as Dtype
from ._dtinfo import __version__ as __version__
from ._dtinfo import _Array, _DtypeLike, _Nan, _Overflow, _Round
from ._dtinfo import dtype as dtype
from ._dtinfo import dtypes as dtypes
from ._dtinfo import empty as empty
from ._dtinfo import from_codes as from_codes
from ._dtinfo import holds as holds
from ._dtinfo import kernels as kernels
from ._dtinfo import machine as machine
from ._dtinfo import stacks as stacks

_Number: TypeAlias = int | float | Fraction | Decimal | str
_Exact: TypeAlias = Fraction | float
_Via: TypeAlias = _DtypeLike | Sequence[_DtypeLike] | None

def __dir__() -> list[str]: ...

class Error(Exception):
    status: str
    remedy: str
    advice: str
    argument: str
    suggestions: tuple[str, ...]

class ArgumentError(Error, ValueError): ...
class UnknownDtypeError(ArgumentError, KeyError): ...
class DataError(Error, OSError, ValueError): ...
class FileMissingError(DataError, FileNotFoundError): ...
class WriteError(Error, OSError): ...
class UnavailableError(Error, RuntimeError): ...
class TensorNotFoundError(Error, KeyError): ...

class _Record:
    def _asdict(self) -> dict[str, Any]: ...
    def _repr_html_(self) -> str: ...

class CastReport(_Record):
    def __init__(self, facts: dict[str, Any], src: Dtype, dst: Dtype) -> None: ...
    src: Dtype
    dst: Dtype
    elements: int
    inexact: int
    overflowed: int
    to_zero: int
    to_subnormal: int
    nan_in: int
    inf_in: int
    no_code: int
    stray: int
    compared: int
    max_absolute: float
    max_index: int
    max_relative: float
    mean_absolute: float
    root_mean_square: float
    sqnr_db: float
    first_no_code: int | None
    @property
    def exact(self) -> bool: ...

class Stats(_Record):
    def __init__(self, facts: dict[str, Any], dtype: Dtype, fitting: bytes, shape: tuple[int, ...]) -> None: ...
    dtype: Dtype
    shape: tuple[int, ...]
    elements: int
    nan: int
    inf: int
    negative_inf: int
    zeros: int
    negative: int
    subnormals: int
    finite: int
    min: Fraction | None
    max: Fraction | None
    absmax: Fraction | None
    min_index: int
    max_index: int
    absmax_index: int
    first_nan: int | None
    first_inf: int | None
    mean: float
    deviation: float
    def fits(self, dtype: _DtypeLike) -> bool: ...

class Difference(_Record):
    def __init__(self, facts: dict[str, Any], a: Dtype, b: Dtype) -> None: ...
    dtype_a: Dtype
    dtype_b: Dtype
    elements: int
    differing: int
    unmatched: int
    exceeding: int
    compared: int
    max_absolute: float
    max_index: int
    max_relative: float
    max_ulp: float
    first_differing: int | None
    first_unmatched: int | None
    mean_absolute: float
    root_mean_square: float
    sqnr_db: float
    nmse: float
    cosine: float
    def __bool__(self) -> bool: ...

class QuantizeReport(_Record):
    def __init__(self, facts: dict[str, Any], format: str) -> None: ...
    format: str
    elements: int
    inexact: int
    clipped: int
    special: int
    compared: int
    max_absolute: float
    max_index: int
    max_relative: float
    mean_absolute: float
    root_mean_square: float
    sqnr_db: float

class CalcReport(_Record):
    format: Dtype
    roundings: int
    overflows: int
    nans: int
    divisions_by_zero: int
    to_zero: int
    subnormals: int
    absorbed: int
    cancellations: int
    first: str | None
    has_truth: bool
    different: int
    max_relative: float

class BlockFormat(_Record):
    name: str
    summary: str | None
    code: Dtype | None
    scale: Dtype | None
    length: int
    bytes: int
    gguf: bool
    encodes: bool

class _Info(_Record):
    dtype: Dtype
    bits: int
    container_bits: int
    packs: bool
    is_signed: bool
    max_code: int
    lowest_code: int
    integers_up_to: int
    precision: int
    digits10: int
    max_digits10: int
    nan_codes: int
    inf_codes: int
    finite_codes: int
    def __init__(self, dtype: _DtypeLike) -> None: ...

class finfo(_Info):
    component: Dtype | None
    exponent_bits: int
    mantissa_bits: int
    bias: int
    has_inf: bool
    has_nan: bool
    has_minus_zero: bool
    has_subnormals: bool
    min: Fraction
    lowest: Fraction
    max: Fraction
    smallest_normal: Fraction | None
    smallest_subnormal: Fraction | None
    eps: Fraction | None
    epsneg: Fraction | None
    overflow_from: Fraction | None
    overflow_inclusive: bool
    to_zero_up_to: Fraction | None
    to_zero_inclusive: bool
    smallest_normal_code: int
    smallest_subnormal_code: int
    nan_code: int | None
    min_exponent: int
    max_exponent: int
    @property
    def tiny(self) -> Fraction | None: ...

class iinfo(_Info):
    min: int
    lowest: int
    max: int

class Bits(_Record):
    dtype: Dtype
    code: int
    value: _Exact
    text: str
    exact_text: str | None
    hex: str | None
    bits: str
    fields: str
    picture: str
    def __init__(self, code: int, dtype: _DtypeLike) -> None: ...
    def __float__(self) -> float: ...

class CastValue(Bits):
    given: _Exact | None
    given_text: str
    stored: _Exact
    error: Fraction | None
    relative: Fraction | None
    ulps: Fraction | None
    exact: bool
    direction: int
    flags: frozenset[str]
    below: _Exact | None
    above: _Exact | None
    below_code: int | None
    above_code: int | None
    def __init__(self, given: _Number, dtype: _DtypeLike, policies: dict[str, Any]) -> None: ...

class Quantized:
    format: str
    shape: tuple[int, ...]
    codes: Any
    scales: Any
    zero_points: Any
    tensor_scale: float | None
    nested_scales: Any
    nested_map: Any
    options: dict[str, Any]
    report: QuantizeReport | None
    def __init__(self, format: str, shape: Sequence[int], codes: _Array, scales: _Array | None = None,
                 zero_points: _Array | None = None, tensor_scale: float | None = None,
                 nested_scales: _Array | None = None, nested_map: _Array | None = None, **options: Any) -> None: ...
    @property
    def nbytes(self) -> int: ...
    def dequantize(self, dtype: _DtypeLike = "fp32") -> Any: ...

class Tensor:
    name: str
    dtype: Dtype | None
    shape: tuple[int, ...]
    stored_as: str
    refusal: str | None
    elements: int
    stored_bytes: int
    quantized: str | None
    layout: str | None
    def __init__(self, file: File, index: int) -> None: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    def __len__(self) -> int: ...
    def read(self, first: int = 0, count: int | None = None) -> Array: ...
    def __getitem__(self, key: Any) -> Array: ...
    def numpy(self, copy: bool = False) -> Any: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...
    def torch(self) -> Any: ...
    def stats(self) -> Stats: ...

class File(Mapping[str, Tensor]):
    container: str
    version: str | None
    def __init__(self, handle: Any) -> None: ...
    def __getitem__(self, name: str) -> Tensor: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    @property
    def metadata(self) -> dict[str, Any]: ...
    @property
    def notes(self) -> list[str]: ...
    def close(self) -> None: ...
    def __enter__(self) -> File: ...
    def __exit__(self, *_: object) -> None: ...
    def _repr_html_(self) -> str: ...

class Writer:
    def __init__(self, path: str | os.PathLike[str], *, container: str | None = None, force: bool = False) -> None: ...
    def metadata(self, key: str, value: str) -> None: ...
    def tensor(self, name: str, dtype: _DtypeLike, shape: Iterable[int]) -> None: ...
    def write(self, name: str, array: _Array, first: int = 0) -> None: ...
    def commit(self) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Writer: ...
    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None: ...

class Document(dict[str, Any]):
    ok: bool
    def __init__(self, members: Mapping[str, Any], ok: bool = True) -> None: ...
    def _repr_html_(self) -> str: ...

class torch_hook:
    dtype: Dtype
    first: Any
    def __init__(self, model: Any, dtype: _DtypeLike, *, gradients: bool = True) -> None: ...
    def remove(self) -> None: ...
    def __enter__(self) -> torch_hook: ...
    def __exit__(self, *_: object) -> None: ...

@overload
def cast(array: _Array, dtype: _DtypeLike, *, round: _Round | None = None, overflow: _Overflow | None = None,
         nan: _Nan | None = None, like: str | None = None, via: _Via = None, seed: int = 0,
         report: Literal[False] = False, out: _Array | None = None, src: _DtypeLike | None = None) -> Any: ...
@overload
def cast(array: _Array, dtype: _DtypeLike, *, round: _Round | None = None, overflow: _Overflow | None = None,
         nan: _Nan | None = None, like: str | None = None, via: _Via = None, seed: int = 0,
         report: Literal[True], out: _Array | None = None,
         src: _DtypeLike | None = None) -> tuple[Any, CastReport]: ...
def stats(array: _Array, *, src: _DtypeLike | None = None) -> Stats: ...
def cast_value(number: _Number, dtype: _DtypeLike, *, round: _Round | None = None, overflow: _Overflow | None = None,
               nan: _Nan | None = None, like: str | None = None, via: _Via = None, seed: int = 0) -> CastValue: ...
def bits(code: int, dtype: _DtypeLike) -> Bits: ...
def blocks() -> list[BlockFormat]: ...
@overload
def compare(a: str | os.PathLike[str], b: str | os.PathLike[str], *, atol: float = 0.0, rtol: float = 0.0,
            **options: Any) -> Document: ...
@overload
def compare(a: _Array, b: _Array, *, atol: float = 0.0, rtol: float = 0.0, src: _DtypeLike | None = None,
            src_b: _DtypeLike | None = None) -> Difference: ...
def cast_file(path: str | os.PathLike[str], dtype: str | Dtype, output: str | os.PathLike[str],
              **options: Any) -> Document: ...
def quantize_file(path: str | os.PathLike[str], format: str, output: str | os.PathLike[str],
                  **options: Any) -> Document: ...
def dequantize_file(path: str | os.PathLike[str], dtype: str | Dtype, output: str | os.PathLike[str],
                    **options: Any) -> Document: ...
def transcode(path: str | os.PathLike[str], layout: str, output: str | os.PathLike[str], **options: Any) -> Document: ...
def inspect(path: str | os.PathLike[str], **options: Any) -> Document: ...
def check(path: str | os.PathLike[str], **options: Any) -> Document: ...
def explain(source: str | os.PathLike[str], path: str | os.PathLike[str], **options: Any) -> Document: ...
def calc(expression: str, dtype: _DtypeLike, operands: Mapping[str, _Array] | None = None, *,
         round: _Round | None = None, overflow: _Overflow | None = None, nan: _Nan | None = None, seed: int = 0,
         accumulate: _DtypeLike | None = None, order: Literal["sequential", "pairwise", "kahan"] | None = None,
         flush: bool = False, fma: bool = False, truth: bool = False, report: bool = False, **arrays: _Array) -> Any: ...
def quantize(array: _Array, format: str, *, per: Literal["tensor", "channel", "block"] | None = None,
             axis: int | None = None, block: int | None = None, symmetric: bool = False, affine: bool = False,
             symmetry: str | None = None, division: str | None = None, like: str | None = None,
             mx_scale: str | None = None, nv_scale: str | None = None, tensor_scale: _Number | None = None,
             min: _Number | None = None, max: _Number | None = None, scale: _Number | None = None,
             zero_point: _Number | None = None, packing: str | None = None, nested: bool = False, pad: bool = False,
             gguf: bool = False, report: bool = False) -> Quantized: ...
def dequantize(quantized: Quantized, dtype: _DtypeLike = "fp32") -> Any: ...
def open(source: str | os.PathLike[str] | int | bytes | bytearray | memoryview, *, name: str | None = None,
         stored: bool = False, lenient: bool = False, assume: _DtypeLike | None = None, bits: int | None = None,
         block: int | None = None) -> File: ...
def save(path: str | os.PathLike[str], tensors: Mapping[str, _Array], *, container: str | None = None,
         metadata: Mapping[str, str] | None = None, force: bool = False) -> None: ...
