# SPDX-License-Identifier: MIT
"""Number formats of machine learning."""
from ._dtinfo import version

__all__ = ["version"]
