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


E2M1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6], np.float32)
E4M3 = np.array([(m * 2.0 ** -9 if e == 0 else (8 + m) * 2.0 ** (e - 10)) for e in range(16) for m in range(8)][:127])
MODES = {"mxfp4": (E2M1, 32), "mxfp8": (E4M3, 32), "nvfp4": (E2M1, 16)}    # elements from 0 up, length of a block


def to_nearest(x, numbers):
    """The index of the nearest of ascending numbers, ties to the even index, beyond the last that one. x: from 0 up."""
    middle = (numbers[1:].astype(np.float64) + numbers[:-1]) / 2
    below, above = np.searchsorted(middle, x, "left"), np.searchsorted(middle, x, "right")
    return np.where(below % 2 == 0, below, above)


def blocks(x, mode):
    """fp32 [rows, columns], finite -> codes, and one byte of scale for each block. Scales of mx are rounded up to a power of
    two, those of nvfp4 to e4m3; codes as MLX's kernel for GPUs computes them, from fp32, with ties to even."""
    numbers, length = MODES[mode]
    groups = x.reshape(-1, length)
    most = np.abs(groups).max(1)
    if mode == "nvfp4":
        scales = to_nearest((most / np.float32(6)).astype(np.float64), E4M3).astype(np.uint8)
        factor = E4M3[scales].astype(np.float32)
    else:
        exact = most.astype(np.float64) / float(numbers[-1])
        mantissa, exponent = np.frexp(exact)
        power = np.where(most == 0, -127, np.clip(exponent - (mantissa == 0.5), -127, 127))
        scales, factor = (power + 127).astype(np.uint8), np.exp2(power.astype(np.float64))
    with np.errstate(all="ignore"):
        quotient = groups / factor[:, None] if mode != "nvfp4" else (groups / factor[:, None]).astype(np.float32)
        quotient = np.where(factor[:, None] == 0, 0, quotient)
    code = to_nearest(np.abs(quotient).astype(np.float64), numbers)
    sign = np.signbit(groups) & (factor[:, None] != 0)
    return (code + sign * (8 if len(numbers) == 8 else 128)).astype(np.uint8).reshape(x.shape), scales.reshape(x.shape[0], -1)


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
