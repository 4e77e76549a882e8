# SPDX-License-Identifier: MIT
"""Block formats against other libraries, bit by bit where they compute the same: gfloat and torchao (MX), torchao (NVFP4),
ml_dtypes and numpy (elements, in fp32), gguf (ggml's blocks), bitsandbytes' published thresholds (NF4). Where a library
has another rule, the test says which and looks at the rest.

Usage: test_quant_block_peers.py QUANT_PROBE [--long]
"""

import warnings

import harness
import quant_arrays as arrays
import quant_model as model

np = arrays.np


# MX.

def gfloat_mx(tally, probe, gfloat, count):
    """Its floor rule: scales, codes, and back; an exponent beyond e8m0's is clamped there, too."""
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


TORCHAO_ELEMENTS = {"mxfp8_e4m3": "float8_e4m3fn", "mxfp8_e5m2": "float8_e5m2", "mxfp6_e3m2": "fp6_e3m2",
                    "mxfp6_e2m3": "fp6_e2m3", "mxfp4": "float4_e2m1fn_x2"}


def unpacked(codes, length):
    """Two codes a byte, the low one first."""
    return np.stack([codes & 15, codes >> 4], -1).reshape(-1, length)


def torchao_mx(tally, probe, torch, count):
    """The four rules. Its ceil(log2) of rceil is in fp32, so that extremes just above a power of two away from 1 stay
    with it; scales below 2^-126 are not divided by. Both are kept out."""
    from torchao.prototype.mx_formats.config import ScaleCalculationMode as Mode
    from torchao.prototype.mx_formats.mx_tensor import to_mx
    rng = np.random.default_rng(5)
    modes = {model.FLOOR: Mode.FLOOR, model.CEIL: Mode.CEIL, model.RCEIL: Mode.RCEIL, model.EVEN: Mode.EVEN}
    for name, dtype in TORCHAO_ELEMENTS.items():
        for rule, mode in modes.items():
            x = arrays.hard_blocks(rng, count, 32)
            dtype_there = dtype if dtype.startswith("fp6") else getattr(torch, dtype)
            there_scales, there = to_mx(torch.from_numpy(x), dtype_there, 32, mode)
            there_scales = there_scales.view(torch.uint8).numpy().ravel()
            there = there.view(torch.uint8).numpy()
            there = unpacked(there, 32) if name == "mxfp4" else there.reshape(-1, 32)
            scales, codes, _ = arrays.blocks(probe, name, rule, 0, 1.0, x)
            keep = slice(None)
            if rule == model.RCEIL:
                largest = np.float64(model.element(model.BLOCKS[name][1]).largest)
                ratio = np.abs(x).max(1).astype(np.float64) / largest
                fraction, exponent = np.frexp(np.where(ratio == 0, 1, ratio))
                keep = ~((fraction > 0.5) & (fraction < 0.5 + 2e-5) & (np.abs(exponent) > 1))
            arrays.same(tally, f"torchao {name} {mode} scales", scales[keep], there_scales[keep], np.abs(x).max(1)[keep])
            arrays.same(tally, f"torchao {name} {mode} codes", codes[keep], there[keep], x[keep])


def ml_dtypes_elements(tally, probe, ml_dtypes, count):
    """x / X in fp32, cast to the element by ml_dtypes after clamping."""
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

def sharpened(rng, x, tensor, ml_dtypes):
    """Half of the numbers at and beside the borders between the codes that their blocks' scales make."""
    amax = np.abs(x).max(1, keepdims=True)
    unit = np.minimum(amax / np.float32(6) / tensor, np.float32(448)).astype(ml_dtypes.float8_e4m3fn).astype(np.float32) * tensor
    borders = rng.choice(np.float32([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5]), x.shape) * unit
    borders = np.nextafter(borders, rng.choice(np.float32([0, 1, 2]), x.shape) * borders)
    borders *= rng.choice(np.float32([1, -1]), x.shape)
    return np.where((np.abs(x) < amax) & (np.abs(borders) < amax) & (rng.random(x.shape) < 0.5), borders, x)


def numpy_nvfp4(tally, probe, ml_dtypes, count):
    """The definition in numpy's fp32 arithmetic."""
    rng = np.random.default_rng(7)
    for division in (model.TRUE, model.RECIPROCAL):
        for tensor_wide in (True, False):
            x = arrays.hard_blocks(rng, count, 16, -6, 6)
            amax = np.abs(x).max(1)
            tensor = np.float32(np.abs(x).max() / np.float32(2688)) if tensor_wide else np.float32(1)
            x = sharpened(rng, x, tensor, ml_dtypes)
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


def torchao_nvfp4(tally, probe, torch, ml_dtypes, count):
    """Its scales are kept above 2^-6: blocks below are left out."""
    from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize, per_tensor_amax_to_scale
    rng = np.random.default_rng(8)
    for tensor_wide in (True, False):
        x = arrays.hard_blocks(rng, count, 16, -6, 6)
        tensor = per_tensor_amax_to_scale(torch.tensor(np.abs(x).max())) if tensor_wide else None
        scale = np.float32(tensor) if tensor_wide else np.float32(1)
        x = sharpened(rng, x, scale, ml_dtypes)
        there_scales, there = nvfp4_quantize(torch.from_numpy(x), 16, tensor)
        scales, codes, _ = arrays.blocks(probe, "nvfp4", 0, model.RECIPROCAL, scale, x)
        keep = scales >= 8
        arrays.same(tally, "torchao nvfp4 scales", scales[keep], there_scales.view(torch.uint8).numpy().ravel()[keep])
        arrays.same(tally, "torchao nvfp4 codes", codes[keep], unpacked(there.numpy(), 16)[keep], x[keep])
        if tensor_wide:
            got = arrays.ask(probe, "tensor_scale 1", arrays.as_words(np.abs(x).max()[None])).view(np.float32)
            arrays.same(tally, "torchao tensor scale", got, scale[None])


# bitsandbytes' dQuantizeNF4 (csrc/kernels.cu): x beyond the k-th is above code k.
THRESHOLDS = (-0.8480964004993439, -0.6106329262256622, -0.4599952697753906, -0.33967943489551544, -0.23460740596055984,
              -0.13791173323988914, -0.045525018125772476, 0.03979014977812767, 0.1202552504837513, 0.2035212516784668,
              0.2920137718319893, 0.3893125355243683, 0.5016634166240692, 0.6427869200706482, 0.8614784181118011)


def nf4_thresholds(tally, probe, count):
    """Its thresholds are the midpoints rounded to fp32: where that went up, the threshold itself lies above the midpoint
    and takes the code above here, the one below there. Six numbers, and these are all that differ."""
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
    every = np.arange(16, dtype=np.uint8)
    scales = np.arange(256, dtype=np.uint8)
    data = np.concatenate([scales[:, None], np.tile(every | (every << 4), (256, 1))], 1)
    low = np.tile((every[0::2] | (every[1::2] << 4)), 4)
    with np.errstate(all="ignore"):
        there = quants.dequantize(data, kinds.MXFP4)
        arrays.same(tally, "gguf mxfp4 back", arrays.block_back(probe, "mxfp4", 1.0, scales[:, None], np.tile(every, 2)[None],
                                                                "ggml"), there)
        data = np.concatenate([np.tile(scales[:, None], (1, 4)), np.tile(low, (256, 1))], 1)
        row = np.tile(np.concatenate([every[0::2], every[1::2]]), 4)
        arrays.same(tally, "gguf nvfp4 back", arrays.block_back(probe, "nvfp4", 1.0, scales[:, None], row[None], "ggml"),
                    quants.dequantize(data, kinds.NVFP4))


def main():
    probe, long = harness.arguments()
    tally = harness.Tally()
    warnings.simplefilter("ignore")
    if np is None:
        tally.skip("numpy is missing")
        tally.finish()
    count = 20000 if long else 500
    nf4_thresholds(tally, probe, 100 * count)
    tally.part("bitsandbytes' thresholds")
    for name, part in (("ml_dtypes", ml_dtypes_elements), ("ml_dtypes", numpy_nvfp4), ("gfloat", gfloat_mx),
                       ("gguf", gguf_blocks)):
        found = harness.have(name)
        if found is None:
            tally.skip(f"{name} is missing")
        else:
            part(tally, probe, found, count)
            tally.part(part.__name__)
    torch, ml_dtypes = harness.have("torch") if long else None, harness.have("ml_dtypes")
    if not long:        # it takes 5 seconds to import
        tally.skip("torchao: in the long run")
    elif torch and ml_dtypes and harness.have("torchao"):
        torchao_mx(tally, probe, torch, count)
        torchao_nvfp4(tally, probe, torch, ml_dtypes, count)
        tally.part("torchao")
    else:
        tally.skip("torch, ml_dtypes or torchao is missing")
    tally.finish()


main()
