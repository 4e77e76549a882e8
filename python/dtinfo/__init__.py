# SPDX-License-Identifier: MIT
"""Number formats of machine learning: limits, exact casts, quantization, and files of tensors."""
import os as _os

from . import _dtinfo
from ._dtinfo import (Array, Dtype, __version__, cast, dtype, dtypes, empty, from_codes, holds, kernels, machine, stacks,
                      stats)
from ._errors import (ArgumentError, DataError, Error, TensorNotFoundError, UnavailableError, UnknownDtypeError,
                      WriteError)

if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_dtinfo._renew)

# Loaded when first used.
_LAZY = {name: module for module, names in {
    "_api": ("Quantized", "bits", "blocks", "calc", "cast_value", "compare", "dequantize", "quantize"),
    "_files": ("File", "FileMissingError", "Tensor", "Writer", "open", "save"),
    "_results": ("Bits", "BlockFormat", "CalcReport", "CastReport", "CastValue", "Difference", "QuantizeReport", "Stats",
                 "finfo", "iinfo"),
    "_rewrite": ("Document", "cast_file", "check", "dequantize_file", "explain", "inspect", "quantize_file", "transcode"),
    "_torch": ("torch_hook",),
}.items() for name in names}


def __getattr__(name):
    from importlib import import_module
    if name == "testing":
        return import_module(".testing", __name__)
    if name not in _LAZY:
        raise AttributeError("module 'dtinfo' has no attribute '%s'" % name)
    value = getattr(import_module("." + _LAZY[name], __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(_LAZY) | {"testing"})
