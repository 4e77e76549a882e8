# SPDX-License-Identifier: MIT
"""MLX's rule for groups with a scale and a bias, written here twice: in numpy's fp32, for arrays, and in exact rationals
with one rounding an operation, for single groups. And groups of numbers at which it may go wrong."""
from fractions import Fraction

import numpy as np

STORED = {"F32": np.float32, "F16": np.float16}     # BF16: bits of an fp32 number
WIDTHS, LENGTHS = (2, 3, 4, 5, 6, 8), (32, 64, 128)


def to_bf16(x):
    """fp32 -> bits, to nearest even; NaN stays NaN."""
    bits = np.ascontiguousarray(x, dtype=np.float32).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(x), np.uint16(0x7fc0), rounded).astype(np.uint16)


def stored(x, dtype):
    """The bytes of numbers in a dtype of the file."""
    with np.errstate(over="ignore"):
        return to_bf16(x) if dtype == "BF16" else np.asarray(x, dtype=np.float32).astype(STORED[dtype])


def numbers(array, dtype):
    """The fp32 numbers of a stored array."""
    if dtype == "BF16":
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float32)


def quantize(x, bits, length):
    """fp32 [rows, columns] -> codes, and scales and biases in fp32, as MLX's code for processors computes them."""
    groups = x.reshape(-1, length)
    most, least = np.float32(2 ** bits - 1), np.float32(1e-7)
    with np.errstate(all="ignore"):
        low, high = np.fmin.reduce(groups, 1), np.fmax.reduce(groups, 1)
        low, high = np.where(np.isnan(low), np.float32("inf"), low), np.where(np.isnan(high), np.float32("-inf"), high)
        is_low = np.abs(low) > np.abs(high)
        step = (high - low) / most
        step = np.where(step < least, least, step)
        step = np.where(is_low, step, -step)
        edge = np.where(is_low, low, high)
        turns = np.rint(edge / step)
        scale = np.where(turns != 0, edge / turns, step).astype(np.float32)
        bias = np.where(turns != 0, edge, np.float32(0)).astype(np.float32)
        codes = np.rint((groups - bias[:, None]) / scale[:, None])
        codes = np.where(codes > 0, np.where(codes < most, codes, most), 0).astype(np.uint8)
    return codes.reshape(x.shape), scale, bias


def rounded(x):
    """A rational to fp32, ties to even; only for results within its range."""
    if x == 0:
        return Fraction(0)
    exponent = abs(x).numerator.bit_length() - abs(x).denominator.bit_length()
    exponent -= Fraction(2) ** exponent > abs(x)
    unit = Fraction(2) ** (max(exponent, -126) - 23)
    return round(x / unit) * unit


def quantize_exactly(group, bits):
    """Finite fp32 numbers whose range is finite, too -> codes, scale, bias."""
    x = [Fraction(float(number)) for number in group]
    low, high, most = min(x), max(x), 2 ** bits - 1
    step = max(rounded(rounded(high - low) / most), Fraction(float(np.float32(1e-7))))
    step = step if abs(low) > abs(high) else -step
    edge = low if abs(low) > abs(high) else high
    turns = round(rounded(edge / step))
    scale, bias = (rounded(edge / turns), edge) if turns else (step, Fraction(0))
    return [min(max(round(rounded(rounded(number - bias) / scale)), 0), most) for number in x], scale, bias


def pack(codes, bits):
    """Rows of codes -> words, without gaps, the first code in the lowest bits."""
    rows = codes.reshape(-1, codes.shape[-1])
    stream = (rows[:, :, None] >> np.arange(bits, dtype=np.uint8) & 1).reshape(rows.shape[0], -1)
    return np.packbits(stream, axis=1, bitorder="little").view("<u4")


def hard_groups(random, count, length):
    """Rows of `length` numbers: random, constant, zeros, subnormal, large, one-sided, ties."""
    x = random.standard_normal((count, length)).astype(np.float32)
    kind = np.arange(count) % 12
    magnitude = np.exp2(random.integers(-30, 30, (count, 1))).astype(np.float32)
    with np.errstate(all="ignore"):
        x = np.where((kind == 1)[:, None], x * magnitude, x)
        x[kind == 2] = x[kind == 2][:, :1] * magnitude[kind == 2]           # constant
        x[kind == 3] = np.where(x[kind == 3] > 0, np.float32(0), np.float32("-0"))
        x[kind == 4] *= np.float32(1e-40)                                   # subnormal
        x[kind == 5] *= np.float32(2) ** random.integers(-120, 100, (int((kind == 5).sum()), 1)).astype(np.float32)
        x[kind == 6] = np.abs(x[kind == 6])
        x[kind == 7] = -np.abs(x[kind == 7])
        x[kind == 8, length // 2] *= np.float32(1000)                       # an outlier
        x[kind == 9] = np.rint(x[kind == 9] * 4) / 2                        # ties
        x[kind == 10] = 100 + x[kind == 10] * np.float32(1e-4)              # far from zero
        x[kind == 11] = np.where(np.arange(length) % 2, x[kind == 11][:, :1], -x[kind == 11][:, :1])
    return x.astype(np.float32)
