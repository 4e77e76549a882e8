# SPDX-License-Identifier: MIT
"""Block formats against other libraries, bit by bit where both compute the same: gfloat (MX), ml_dtypes and numpy
(elements, in fp32), fouroversix (the choice of NVFP4 scales), gguf (ggml's blocks), bitsandbytes' published thresholds
(NF4, FP4), and bitsandbytes itself if installed (FP4). If a library has another rule, the test states it and compares
the rest.

Usage: test_quant_block_peers.py QUANT_PROBE [--long]
"""

import warnings

import harness
import quant_arrays as arrays
import quant_model as model

np = arrays.np


# MX.

def gfloat_mx(tally, probe, gfloat, count):
    """Its floor rule: scales, codes, and dequantized values; exponents beyond e8m0's range are clamped there too."""
    from gfloat import formats as gf
    rng = np.random.default_rng(4)
    forms = {"mxfp8_e4m3": gf.format_info_mxfp8_e4m3, "mxfp8_e5m2": gf.format_info_mxfp8_e5m2,
             "mxfp6_e3m2": gf.format_info_mxfp6_e3m2, "mxfp6_e2m3": gf.format_info_mxfp6_e2m3,
             "mxfp4": gf.format_info_mxfp4_e2m1, "mxint8": gf.format_info_mxint8}
    for name, form in forms.items():
        x = np.concatenate([arrays.hard_blocks(rng, count // 25, 32), arrays.hard_blocks(rng, 8, 32, -145, -120)])
        scales, codes, _ = arrays.blocks(probe, name, model.FLOOR, 0, 1.0, x)
        for row, scale, made in zip(x.astype(np.float64), scales, codes):
            factor = gfloat.compute_scale_amax(form.etype.emax, row)
            there = list(gfloat.encode_block(form, factor, row / factor))
            tally.check(f"gfloat {name} of {row.tolist()}", [int(scale), *map(int, made)], [int(c) for c in there])
            back = arrays.block_back(probe, name, 1.0, scale, made)
            arrays.same(tally, f"gfloat {name} back", back, np.float32(list(gfloat.decode_block(form, there))))


def ml_dtypes_elements(tally, probe, ml_dtypes, count):
    """x / X in fp32, clamped, then cast to the element by ml_dtypes."""
    rng = np.random.default_rng(6)
    types = {"mxfp8_e4m3": "float8_e4m3fn", "mxfp8_e5m2": "float8_e5m2", "mxfp6_e3m2": "float6_e3m2fn",
             "mxfp6_e2m3": "float6_e2m3fn", "mxfp4": "float4_e2m1fn"}
    for name, dtype in types.items():
        kind = getattr(ml_dtypes, dtype)
        largest = np.float32(ml_dtypes.finfo(kind).max)
        for rule in range(4):
            x = np.concatenate([arrays.hard_blocks(rng, count, 32), arrays.hard_blocks(rng, 40, 32, -145, -120)])
            scales, codes, _ = arrays.blocks(probe, name, rule, 0, 1.0, x)
            scaled = np.ldexp(x.astype(np.float64), 127 - scales.astype(np.int32)[:, None])
            there = np.clip(scaled, -largest, largest).astype(np.float32).astype(kind)
            arrays.same(tally, f"ml_dtypes {name} rule {rule}", codes, there.view(np.uint8) & ((1 << model.FORMATS[
                model.BLOCKS[name][1]].width) - 1), x)


# NVFP4 and NF4.

def numpy_nvfp4(tally, probe, ml_dtypes, count):
    """The definition in numpy's fp32 arithmetic."""
    rng = np.random.default_rng(7)
    for division in (model.TRUE, model.RECIPROCAL):
        for tensor_wide in (True, False):
            x = arrays.hard_blocks(rng, count, 16, -6, 6)
            amax = np.abs(x).max(1)
            tensor = np.float32(np.abs(x).max() / np.float32(2688)) if tensor_wide else np.float32(1)
            x = arrays.sharpened(rng, x, tensor, ml_dtypes)
            scales = np.minimum(amax / np.float32(6) / tensor, np.float32(448)).astype(ml_dtypes.float8_e4m3fn)
            wide = scales.astype(np.float32)[:, None]
            with np.errstate(divide="ignore", invalid="ignore"):
                if division == model.TRUE:
                    q = x / (wide * tensor)
                else:
                    q = x * ((np.float32(1) / tensor) / wide)
            q = np.where(wide == 0, np.float32(0), q)
            there = np.clip(q, -6, 6).astype(ml_dtypes.float4_e2m1fn)
            here_scales, codes, _ = arrays.blocks(probe, "nvfp4", 0, division, tensor, x)
            arrays.same(tally, f"numpy nvfp4 {division} scales", here_scales, scales.view(np.uint8), amax)
            arrays.same(tally, f"numpy nvfp4 {division} codes", codes, there.view(np.uint8) & 15, x)
            arrays.same(tally, f"numpy nvfp4 {division} back", arrays.block_back(probe, "nvfp4", tensor, here_scales[:, None], codes),
                 there.astype(np.float32) * (wide * tensor), x)


def squared_error(x, back):
    return ((back.astype(np.float64) - x) ** 2).sum(1)


def chosen(tally, who, probe, x, tensor, there_scales, there_codes):
    """Four Over Six in another arithmetic: nearly all blocks are equal. Ties, and scales between two codes, may
    differ."""
    scales, codes, _ = arrays.blocks(probe, "nvfp4", model.FOUR_SIX, model.TRUE, tensor, x)
    values = np.float32([model.value_of("fp4_e2m1", c) for c in range(16)])
    units = np.float32([model.value_of("fp8_e4m3fn", c) for c in range(256)])
    here = values[codes] * (units[scales] * tensor)[:, None]
    there = values[there_codes] * (units[there_scales] * tensor)[:, None]
    other = (scales != there_scales) | (values[codes] != values[there_codes]).any(1)
    fours = arrays.blocks(probe, "nvfp4", model.SIX, model.TRUE, tensor, x)[0] != scales
    tally.check(f"{who}: blocks that are not the same, of {len(x)}", bool(other.mean() < 0.01), True)
    tally.check(f"{who}: both are chosen", bool(0.2 < fours.mean() < 0.8), True)
    ours, theirs = squared_error(x, here).sum(), squared_error(x, there).sum()
    tally.check(f"{who}: the error is not larger", bool(ours <= theirs * 1.0001), True)
    tally.checked += x.size


def paper_four_over_six(tally, probe, ml_dtypes, count):
    """Algorithm 1 of arXiv 2512.02010 in numpy: scales for 6 and 1.5 times as large ones; the smaller sum of
    squares wins."""
    rng = np.random.default_rng(17)
    for spread in (0, 3):
        x = (rng.standard_normal((count, 16)) * 2.0 ** rng.uniform(-spread, spread, (count, 1))).astype(np.float32)
        tensor = np.float32(np.abs(x).max() / np.float32(1536))
        tried = []
        for factor in (1, 1.5):
            scales = (np.abs(x).max(1) / np.float32(6) / tensor * np.float32(factor)).astype(ml_dtypes.float8_e4m3fn)
            unit = scales.astype(np.float32)[:, None] * tensor
            with np.errstate(divide="ignore", invalid="ignore"):
                codes = np.where(unit == 0, np.float32(0), np.clip(x / unit, -6, 6)).astype(ml_dtypes.float4_e2m1fn)
            tried.append((scales.view(np.uint8), codes.view(np.uint8) & 15, squared_error(x, codes.astype(np.float32) * unit)))
        (six, six_codes, six_error), (four, four_codes, four_error) = tried
        take = four_error < six_error
        chosen(tally, "the paper", probe, x, tensor, np.where(take, four, six), np.where(take[:, None], four_codes, six_codes))


def fouroversix_reference(tally, probe, fouroversix, count):
    """The authors' package; its PyTorch reference multiplies by reciprocals and sums in fp32."""
    import torch
    from fouroversix.quantize.pytorch import reference
    from fouroversix.utils import DataType, RoundStyle, ScaleRule
    rng = np.random.default_rng(18)
    x = (rng.standard_normal((64 * max(1, count // 64), 128)) * 2.0 ** rng.uniform(-2, 2, (1, 128))).astype(np.float32)
    quantize = getattr(reference, "quantize", None) or reference.quantize_to_fp4
    codes, scales, amax = quantize(
        torch.from_numpy(x), fp4_format=DataType.nvfp4, round_style=RoundStyle.nearest, scale_rule=ScaleRule.mse,
        use_blackwell_scale_layout=False)
    packed = codes.numpy().reshape(-1, 8)
    there = np.stack([packed & 15, packed >> 4], -1).reshape(-1, 16)
    tensor = np.float32(np.float32(amax) / np.float32(1536))
    chosen(tally, "fouroversix", probe, x.reshape(-1, 16), tensor, scales.view(torch.uint8).numpy().ravel(), there)


# bitsandbytes' dQuantizeNF4 (csrc/kernels.cu): x beyond threshold k gets a code above k.
THRESHOLDS = (-0.8480964004993439, -0.6106329262256622, -0.4599952697753906, -0.33967943489551544, -0.23460740596055984,
              -0.13791173323988914, -0.045525018125772476, 0.03979014977812767, 0.1202552504837513, 0.2035212516784668,
              0.2920137718319893, 0.3893125355243683, 0.5016634166240692, 0.6427869200706482, 0.8614784181118011)


def nf4_thresholds(tally, probe, count):
    """Its thresholds are midpoints rounded to fp32. Where one was rounded up, the threshold itself lies above the
    midpoint: it gets the upper code here and the lower one there. These six numbers are the only differences."""
    thresholds = np.float32(THRESHOLDS)
    table = np.float32(model.NF4).astype(np.float64)
    upward = thresholds > (table[:-1] + table[1:]) / 2
    tally.check("nf4 thresholds above their midpoints", int(upward.sum()), 6)
    x = np.concatenate([thresholds, np.nextafter(thresholds, np.float32(2)), np.nextafter(thresholds, np.float32(-2)),
                        np.random.default_rng(9).uniform(-1, 1, count).astype(np.float32)])
    x = np.concatenate([x, np.ones(-len(x) % 63, np.float32)]).reshape(-1, 63)
    x = np.concatenate([np.ones((len(x), 1), np.float32), x], 1)
    want = (x[..., None] > thresholds).sum(-1) + np.isin(x, thresholds[upward])
    scales, codes, _ = arrays.blocks(probe, "nf4", 0, model.TRUE, 1.0, x)
    arrays.same(tally, "nf4 scales", scales, np.full(len(x), 0x3F800000))
    arrays.same(tally, "nf4 codes", codes, want, x)


def fp4_pivots(tally, probe, count):
    """The pivots of dQuantizeFP4 by counting, on both sides of each and at random; the model searches level by
    level."""
    pivots = np.float32((0.00260417, 0.0859375, 0.20833333, 0.29166667, 0.4166667, 0.583333, 0.8333333))
    x = np.concatenate([pivots, np.nextafter(pivots, np.float32(2)), np.nextafter(pivots, np.float32(-2)),
                        np.random.default_rng(12).uniform(0, 1, count).astype(np.float32)])
    x = np.concatenate([x, -x])
    x = np.concatenate([x, np.ones(-len(x) % 63, np.float32)]).reshape(-1, 63)
    x = np.concatenate([np.ones((len(x), 1), np.float32), x], 1)
    order = np.array((0, 1, 6, 7, 4, 5, 2, 3))
    want = order[(np.abs(x)[..., None] > pivots).sum(-1)] + 8 * (x < 0)
    scales, codes, _ = arrays.blocks(probe, "bnb_fp4", 0, model.TRUE, 1.0, x)
    arrays.same(tally, "bnb_fp4 scales", scales, np.full(len(x), 0x3F800000))
    arrays.same(tally, "bnb_fp4 codes", codes, want, x)


def bitsandbytes_fp4(tally, probe, bitsandbytes, count):
    """Its table, codes and values on the CPU. Its CPU codes come from a search between midpoints of the table, not
    from the kernel's pivots, and codes 0 and 8 are both zero: elements between pivot and midpoint, and zeros, are
    excluded."""
    import torch
    functional, rng = bitsandbytes.functional, np.random.default_rng(13)
    table = functional.get_4bit_type("fp4", device="cpu").numpy()
    arrays.same(tally, "bitsandbytes' table", table.view(np.uint32), np.float32(model.BNB_FP4).view(np.uint32))
    x = arrays.hard_blocks(rng, count, 64, -20, 20)
    scales, codes, _ = arrays.blocks(probe, "bnb_fp4", 0, model.RECIPROCAL, 1.0, x)
    packed, state = functional.quantize_4bit(torch.from_numpy(x), blocksize=64, quant_type="fp4")
    there = packed.numpy().reshape(len(x), 32)
    there = np.stack([there >> 4, there & 15], -1).reshape(len(x), 64)
    arrays.same(tally, "bitsandbytes' scales", scales.astype(np.uint32), state.absmax.numpy().view(np.uint32))
    q = np.abs(x * (np.float32(1) / np.abs(x).max(1, keepdims=True))).astype(np.float64)
    pivots = np.float64(model.BNB_FP4_PIVOTS)
    by_size = np.sort(np.float64(model.BNB_FP4[:8]))
    near = np.abs(pivots - (by_size[1:] + by_size[:-1]) / 2) + 2.0 ** -24
    clear = (np.abs(q[..., None] - pivots) > near).all(-1) & (q > pivots[0])
    tally.check("bitsandbytes: most elements are compared", bool(clear.mean() > 0.5), True)
    arrays.same(tally, "bitsandbytes' codes", codes[clear], there[clear], x[clear])
    back = functional.dequantize_4bit(packed, state).numpy()
    arrays.same(tally, "bitsandbytes' numbers", arrays.block_back(probe, "bnb_fp4", 1.0, scales[:, None], there), back)


# ggml.

def gguf_blocks(tally, probe, gguf, count):
    kinds, quants = gguf.GGMLQuantizationType, gguf.quants
    rng = np.random.default_rng(10)
    x = np.concatenate([arrays.hard_blocks(rng, count, 32, -20, 20), arrays.hard_blocks(rng, 100, 32, -60, 40)])
    x[5] = 1.0
    with np.errstate(all="ignore"):
        there = quants.quantize(x, kinds.Q8_0)
        scales, codes, _ = arrays.blocks(probe, "q8_0", 0, 0, 1.0, x)
        arrays.same(tally, "gguf q8_0 scales", scales, there[:, :2].copy().view(np.uint16)[:, 0], np.abs(x).max(1))
        arrays.same(tally, "gguf q8_0 codes", codes, there[:, 2:], x)
        arrays.same(tally, "gguf q8_0 back", arrays.block_back(probe, "q8_0", 1.0, scales[:, None], codes),
             quants.dequantize(there, kinds.Q8_0))
        there = quants.quantize(x, kinds.Q4_0)
        scales, codes, _ = arrays.blocks(probe, "q4_0", 0, 0, 1.0, x)
        arrays.same(tally, "gguf q4_0 scales", scales, there[:, :2].copy().view(np.uint16)[:, 0], np.abs(x).max(1))
        halves = np.concatenate([there[:, 2:] & 15, there[:, 2:] >> 4], 1)
        arrays.same(tally, "gguf q4_0 codes", codes, halves, x)
        arrays.same(tally, "gguf q4_0 back", arrays.block_back(probe, "q4_0", 1.0, scales[:, None], codes),
             quants.dequantize(there, kinds.Q4_0))


def main():
    probe, long = harness.arguments()
    tally = harness.Tally()
    warnings.simplefilter("ignore")
    if np is None:
        tally.skip("numpy is missing")
        tally.finish()
    count = 20000 if long else 500
    nf4_thresholds(tally, probe, 100 * count)
    fp4_pivots(tally, probe, 100 * count)
    tally.part("bitsandbytes' thresholds")
    for name, part in (("ml_dtypes", ml_dtypes_elements), ("ml_dtypes", numpy_nvfp4), ("ml_dtypes", paper_four_over_six),
                       ("fouroversix", fouroversix_reference), ("gfloat", gfloat_mx), ("gguf", gguf_blocks),
                       ("bitsandbytes", bitsandbytes_fp4)):
        found = harness.have(name)
        if found is None:
            tally.skip(f"{name} is missing")
        else:
            part(tally, probe, found, count)
            tally.part(part.__name__)
    tally.finish()


main()
