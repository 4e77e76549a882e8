# SPDX-License-Identifier: MIT
"""Number formats of machine learning: limits, exact casts, quantization, and files of tensors."""
import os as _os

from . import _dtinfo
from ._dtinfo import (Array, Dtype, __version__, cast, dtype, dtypes, from_codes, holds, kernels, machine, stacks)
from ._errors import (ArgumentError, DataError, Error, TensorNotFoundError, UnavailableError, UnknownDtypeError,
                      WriteError)

if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_dtinfo._renew)
