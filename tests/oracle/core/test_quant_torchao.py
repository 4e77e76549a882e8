# SPDX-License-Identifier: MIT
"""MX blocks and NVFP4 against torchao, code by code; every difference must have a rule that explains it. MX has three,
and each time exact rationals confirm that our code follows the definition, OCP Microscaling Formats 1.0, 6.3:

- divisor: torchao never divides by a scale of 2^-127 (torchao/prototype/mx_formats/mx_tensor.py clamps the fp32 scale
  to 2^-126, since some GPUs flush subnormal numbers). floor, ceil and even divide by 2^-126 and store 2^-127; rceil
  multiplies by 1. Among small blocks mxfp8_e5m2 shows this first: its scale is 2^-127 from amax < 2^-111 on.
- logarithm: rceil takes the ceiling of log2(amax / max) in fp32, which is an integer if the quotient is just above a
  power of two other than 1: the scale is one code lower, and the extreme is clipped.
- infinity: a block with one gets a finite scale, and the infinity becomes the largest number. Here it is a block of
  NaN.

Usage: test_quant_torchao.py QUANT_PROBE [--long]
"""

import math
import warnings

import harness
import quant_arrays as arrays
import quant_model as model

np = arrays.np
ELEMENTS = {"mxfp8_e4m3": ("float8_e4m3fn", "float8_e4m3fn"), "mxfp8_e5m2": ("float8_e5m2", "float8_e5m2"),
            "mxfp6_e3m2": ("fp6_e3m2", "float6_e3m2fn"), "mxfp6_e2m3": ("fp6_e2m3", "float6_e2m3fn"),
            "mxfp4": ("float4_e2m1fn_x2", "float4_e2m1fn")}
BY_MODEL = 40       # differing blocks per kind that are checked with exact rationals


def unpacked(codes, length):
    """Two codes per byte, the low one first."""
    return np.stack([codes & 15, codes >> 4], -1).reshape(-1, length)


def encoded(kind, ml_dtypes, x, factors):
    """x times a power of two per row, clamped and cast to the element."""
    largest = float(ml_dtypes.finfo(kind).max)
    scaled = np.clip(x.astype(np.float64) * factors[:, None], -largest, largest)
    return scaled.astype(np.float32).astype(kind).view(np.uint8) & (0xFF >> 8 - ml_dtypes.finfo(kind).bits)


def just_above(amax, largest, exponents):
    """Whether amax / largest exceeds 2^exponent by no more than the error of an fp32 logarithm, one ulp of it."""
    with np.errstate(divide="ignore"):
        above = np.log2(amax.astype(np.float64) / largest) - exponents
    return (above > 0) & (above <= np.spacing(np.abs(exponents).astype(np.float32)))


def explain(name, rule, x, ours, theirs, kind, ml_dtypes):
    """{kind of difference: rows}, and the unexplained rows. ours, theirs: scales and codes."""
    scales, codes = ours
    there_scales, there = theirs
    largest = float(model.element(model.BLOCKS[name][1]).largest)
    amax = np.abs(x).max(1)
    infinite = np.isinf(amax)
    differs = (scales != there_scales) | (codes != there).any(1)
    divisor = differs & (scales == 0) & (there_scales == 0) & ~infinite
    divisor &= (there == encoded(kind, ml_dtypes, x, np.full(len(x), 1.0 if rule == model.RCEIL else 2.0**126))).all(1)
    exponents = there_scales.astype(np.int64) - 127
    logarithm = differs & (rule == model.RCEIL) & (scales == there_scales.astype(np.int64) + 1) & (exponents != 0)
    logarithm &= just_above(np.where(infinite, 1, amax), largest, exponents)
    factors = np.where(there_scales == 0, 1.0, 2.0 ** -exponents.astype(np.float64))
    with np.errstate(invalid="ignore", over="ignore"):
        there_coded = (there == encoded(kind, ml_dtypes, x, factors)).all(1)
    logarithm &= there_coded
    infinity = differs & infinite & (scales == 255) & (codes == 0).all(1) & (there_scales < 255)
    found = {"divisor": divisor, "logarithm": logarithm, "infinity": infinity}
    return found, differs & ~(divisor | logarithm | infinity)


def by_model(tally, name, rule, x, scale, codes):
    """Whether exact rationals agree with our result."""
    want = model.block_quantize(name, rule, 0, 1.0, [float(v) for v in x])
    tally.check("%s rule %d of %s by the definition" % (name, rule, x.tolist()), [int(scale), *map(int, codes)],
                [want[1], *want[4:]])


def mx_blocks(rng, count, largest):
    """Ordinary rows, small ones, rows with extremes next to largest x 2^k, and rows with an infinity."""
    extreme = np.ldexp(np.float32(largest), rng.integers(-120, 100, count)).astype(np.float32)
    steps = rng.integers(-2, 3, count).astype(np.int32)
    edge = (rng.uniform(-0.5, 0.5, (count, 32)) * extreme[:, None]).astype(np.float32)
    edge[:, 7] = (extreme.view(np.int32) + steps).view(np.float32)
    infinite = arrays.hard_blocks(rng, count // 4, 32, -20, 20)
    infinite[np.arange(len(infinite)), rng.integers(0, 32, len(infinite))] = rng.choice(np.float32([np.inf, -np.inf]), len(infinite))
    return np.concatenate([arrays.hard_blocks(rng, count, 32), arrays.hard_blocks(rng, count // 2, 32, -148, -95), edge, infinite])


def torchao_mx(tally, probe, torch, ml_dtypes, count):
    from torchao.prototype.mx_formats.config import ScaleCalculationMode as Mode
    from torchao.prototype.mx_formats.mx_tensor import to_mx
    rng = np.random.default_rng(5)
    modes = {model.FLOOR: Mode.FLOOR, model.CEIL: Mode.CEIL, model.RCEIL: Mode.RCEIL, model.EVEN: Mode.EVEN}
    for name, (dtype, kind) in ELEMENTS.items():
        kind, total = getattr(ml_dtypes, kind), {"divisor": 0, "logarithm": 0, "infinity": 0}
        largest, rows = float(ml_dtypes.finfo(kind).max), 0
        for rule, mode in modes.items():
            x = mx_blocks(rng, count, largest)
            there_scales, there = to_mx(torch.from_numpy(x), dtype if dtype.startswith("fp6") else getattr(torch, dtype), 32, mode)
            there_scales = there_scales.view(torch.uint8).numpy().ravel()
            there = there.view(torch.uint8).numpy()
            there = unpacked(there, 32) if name == "mxfp4" else there.reshape(-1, 32)
            scales, codes, _ = arrays.blocks(probe, name, rule, 0, 1.0, x)
            found, rest = explain(name, rule, x, (scales, codes), (there_scales, there), kind, ml_dtypes)
            for what, which in found.items():
                total[what] += int(which.sum())
                for at in np.nonzero(which)[0][:BY_MODEL]:
                    by_model(tally, name, rule, x[at], scales[at], codes[at])
            arrays.same(tally, "torchao %s %s scales" % (name, mode), scales[rest], there_scales[rest], np.abs(x).max(1)[rest])
            arrays.same(tally, "torchao %s %s codes" % (name, mode), codes[rest], there[rest], x[rest])
            rows += len(x)
            tally.checked += 33 * int((~rest).sum())
        # each kind must occur, or this test does not exercise it
        tally.check("torchao %s: differences explained %s" % (name, total), min(total.values()) > 0, True)
        print("%s: %d blocks in 4 modes, differing for a reason: %s" % (name, rows, total))


def nan_blocks(tally, probe, torch):
    """Both turn a NaN into a NaN scale; the codes of such a block are meaningless."""
    from torchao.prototype.mx_formats.mx_tensor import to_mx
    x = np.random.default_rng(15).standard_normal((64, 32)).astype(np.float32)
    x[::5, 3] = np.inf
    x[np.arange(64), np.arange(64) % 32] = np.nan
    for name, (dtype, _) in ELEMENTS.items():
        there, _ = to_mx(torch.from_numpy(x), dtype if dtype.startswith("fp6") else getattr(torch, dtype), 32)
        scales, _, special = arrays.blocks(probe, name, model.FLOOR, 0, 1.0, x)
        arrays.same(tally, "torchao %s: scales of NaN" % name, scales, there.view(torch.uint8).numpy().ravel())
        arrays.same(tally, "%s: blocks of NaN" % name, special, np.ones(64))


def torchao_nvfp4(tally, probe, torch, ml_dtypes, count):
    """Its scales have a lower limit of 2^-6: smaller blocks are excluded."""
    from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize, per_tensor_amax_to_scale
    rng = np.random.default_rng(8)
    for tensor_wide in (True, False):
        x = arrays.hard_blocks(rng, count, 16, -6, 6)
        tensor = per_tensor_amax_to_scale(torch.tensor(np.abs(x).max())) if tensor_wide else None
        scale = np.float32(tensor) if tensor_wide else np.float32(1)
        x = arrays.sharpened(rng, x, scale, ml_dtypes)
        there_scales, there = nvfp4_quantize(torch.from_numpy(x), 16, tensor)
        scales, codes, _ = arrays.blocks(probe, "nvfp4", 0, model.RECIPROCAL, scale, x)
        keep = scales >= 8
        arrays.same(tally, "torchao nvfp4 scales", scales[keep], there_scales.view(torch.uint8).numpy().ravel()[keep])
        arrays.same(tally, "torchao nvfp4 codes", codes[keep], unpacked(there.numpy(), 16)[keep], x[keep])
        if tensor_wide:
            got = arrays.ask(probe, "tensor_scale 0 1", arrays.as_words(np.abs(x).max()[None])).view(np.float32)
            arrays.same(tally, "torchao tensor scale", got, scale[None])


def main():
    probe, long = harness.arguments()
    tally = harness.Tally()
    warnings.simplefilter("ignore")
    torch, ml_dtypes = harness.have("torch"), harness.have("ml_dtypes")
    if not (torch and ml_dtypes and np is not None and harness.have("torchao")):
        tally.skip("torch, ml_dtypes or torchao is missing")
        tally.finish()
    count = 20000 if long else 500
    torchao_mx(tally, probe, torch, ml_dtypes, count)
    tally.part("torchao MX")
    nan_blocks(tally, probe, torch)
    torchao_nvfp4(tally, probe, torch, ml_dtypes, count)
    tally.part("torchao NVFP4")
    tally.finish()


main()
