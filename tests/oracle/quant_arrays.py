# SPDX-License-Identifier: MIT
"""Shared by the tests of quantization against other libraries: the probe's answers as numpy arrays, comparisons, and
numbers that are hard to quantize. Importable without numpy, but unusable."""

import quant_model as model

try:
    import numpy as np
except ImportError:
    np = None


def as_words(x):
    return np.ascontiguousarray(x, np.float32).view(np.uint32)


def ask(probe, line, numbers):
    answer = model.ask(probe, [(line, np.ascontiguousarray(numbers, np.uint32))])
    return np.frombuffer(answer, np.uint32)


def affine(probe, code, low, high, division, specials, scale, zero, x):
    """Codes, and whether each is clipped."""
    head = f"affine {code} {low} {high} {division} {specials} {model.bits(float(scale)):x} {zero} {x.size}"
    answer = ask(probe, head, as_words(x.ravel())).reshape(-1, 2)
    codes = answer[:, 0].astype(np.int64)
    if low < 0:
        codes = np.where(codes > high, codes - (high - low + 1), codes)
    return codes


def affine_back(probe, code, scale, zero, codes):
    width = model.FORMATS[code].width
    head = f"affine_back {code} {model.bits(float(scale)):x} {zero} {codes.size}"
    return ask(probe, head, codes.astype(np.int64) & ((1 << width) - 1)).view(np.float32)


def blocks(probe, name, rule, division, tensor, x):
    """Scales, codes and special flags of rows of x."""
    count, length = x.shape
    answer = ask(probe, f"block {name} {rule} {division} {model.bits(float(tensor)):x} {length} {count}", as_words(x))
    answer = answer.reshape(count, length + 4)
    return answer[:, 1], answer[:, 4:], answer[:, 3]


def block_back(probe, name, tensor, scales, codes):
    pairs = np.stack(np.broadcast_arrays(scales, codes), -1).astype(np.uint32)
    head = f"block_back {name} {model.bits(float(tensor)):x} {pairs[..., 0].size}"
    return ask(probe, head, pairs.ravel()).view(np.float32).reshape(pairs.shape[:-1])


def same(tally, subject, got, want, shown=None):
    """Compares arrays element by element; floats bit by bit, except for NaNs."""
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        tally.differ(subject, got.shape, want.shape)
        return
    tally.checked += want.size
    equal = got == want
    if got.dtype.kind == "f":
        equal = (got.view(np.uint32) == want.view(np.uint32)) | (np.isnan(got) & np.isnan(want))
    for place in np.argwhere(~equal)[:3]:
        at = tuple(place)
        tally.checked -= 1
        what = "" if shown is None else f" of {shown[at]!r}"
        tally.check(f"{subject} {at}{what}, one of {np.count_nonzero(~equal)}", got[at], want[at])


def hard_affine(rng, low, high, scale, zero, count):
    """Midpoints and their neighbours, random numbers in and out of range; all finite."""
    middle = rng.integers(low - zero - 2, high - zero + 2, count) + rng.choice([0.5, 0.5, 0.0], count)
    x = (middle * float(scale)).astype(np.float32)
    x = np.concatenate([x, np.nextafter(x, np.float32(np.inf)), np.nextafter(x, np.float32(-np.inf)),
                        (rng.standard_normal(count) * (high - low) * float(scale)).astype(np.float32),
                        np.array([0.0, -0.0, 1e-45, 1e30, -1e30], np.float32)])
    return x[np.isfinite(x)]


def hard_blocks(rng, count, length, low=-100, high=100):
    """Rows of normal numbers at many scales, with extremes at and next to powers of two and their halves."""
    x = rng.standard_normal((count, length)).astype(np.float32)
    x[::4] = (np.round(x[::4] * 8) / 8).astype(np.float32)      # midpoints, and more than one extreme
    extreme = rng.choice(np.array([1, 1.5, 1.75, 1.875, 1.9375, 1.984375, 1.25, 1.0625], np.float32), count)
    extreme = np.nextafter(extreme, rng.choice(np.array([0, 1, 2], np.float32), count))
    x[1::3, 0] = 4 * extreme[1::3] * rng.choice(np.array([1, -1], np.float32), count)[1::3]
    rng.permuted(x, axis=1, out=x)
    x = np.ldexp(x, rng.integers(low, high, count)[:, None]).astype(np.float32)
    x[5] = 0
    return x


def sharpened(rng, x, tensor, ml_dtypes):
    """Half of the numbers at and next to the boundaries between codes under the scales of their blocks."""
    amax = np.abs(x).max(1, keepdims=True)
    unit = np.minimum(amax / np.float32(6) / tensor, np.float32(448)).astype(ml_dtypes.float8_e4m3fn).astype(np.float32) * tensor
    borders = rng.choice(np.float32([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5]), x.shape) * unit
    borders = np.nextafter(borders, rng.choice(np.float32([0, 1, 2]), x.shape) * borders)
    borders *= rng.choice(np.float32([1, -1]), x.shape)
    return np.where((np.abs(x) < amax) & (np.abs(borders) < amax) & (rng.random(x.shape) < 0.5), borders, x)
