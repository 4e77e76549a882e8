# SPDX-License-Identifier: MIT
"""A program that uses the types: mypy --strict reads it, and nothing runs it."""
from fractions import Fraction

import dtinfo
from dtinfo import testing


def facts() -> tuple[Fraction, int, str]:
    limits = dtinfo.finfo("bf16")
    value = dtinfo.cast_value("1/3", dtinfo.dtype("bf16"), round="zero")
    error: Fraction | None = value.error
    assert error is not None
    return limits.max + error, dtinfo.iinfo("int4").min, value.text


def arrays(x: list[float]) -> float:
    result, report = dtinfo.cast(x, "bf16", overflow="saturate", report=True)
    testing.assert_close_in_ulps(x, result, "bf16", ulps=1)
    difference = dtinfo.compare(x, result)
    quantized = dtinfo.quantize(x, "int8", per="channel", report=True)
    assert quantized.report is not None
    return report.max_relative + difference.sqnr_db + quantized.report.max_absolute


def files(path: str) -> dict[str, tuple[int, ...]]:
    with dtinfo.open(path) as file:
        dtinfo.save(path + ".npz", {name: tensor for name, tensor in file.items() if tensor.quantized is None})
        return {name: tensor.shape for name, tensor in file.items()}
