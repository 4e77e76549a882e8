# SPDX-License-Identifier: MIT
from ._dtinfo import _Array, _DtypeLike

__all__ = ["assert_close_in_ulps", "assert_fits"]

def assert_close_in_ulps(actual: _Array, desired: _Array, dtype: _DtypeLike, ulps: float = 2) -> None: ...
def assert_fits(array: _Array, dtype: _DtypeLike) -> None: ...
