# SPDX-License-Identifier: MIT
"""Quantization through the library: codes, scales and numbers against the models of tests/oracle (ONNX, torch, OCP MX, NVFP4,
bitsandbytes), torch, ml_dtypes and gguf-py; then against the files that the program writes, thread counts, CPU levels and
odd addresses. Usage: test_quantize.py PROBE [DTINFO] [--long]"""
import math
import pathlib
import subprocess
import sys
import tempfile

from harness import Tally, have

np = have("numpy")
if np is None:
    sys.exit(77)

import quant_groups as groups
import quant_model as model
from quantizing import Failed, Probe, groups_of

LONG = "--long" in sys.argv
ARGUMENTS = [a for a in sys.argv[1:] if not a.startswith("--")]
TALLY = Tally()
NUMPY = {"int8": np.int8, "uint8": np.uint8, "int16": np.int16, "uint16": np.uint16}
SCALES = {"fp8_e8m0": np.uint8, "fp8_e4m3fn": np.uint8, "fp32": np.uint32, "fp16": np.uint16}


def numbers(rng, shape):
    """Numbers with a hard exponent for some, zeros, and a few that are not finite."""
    x = rng.standard_normal(shape).astype(np.float32)
    flat = x.reshape(-1)
    if flat.size > 8:
        flat[rng.integers(0, flat.size, flat.size // 8)] *= np.float32(2.0) ** rng.integers(-14, 13)
        flat[rng.integers(0, flat.size, flat.size // 16)] = 0
        flat[rng.integers(0, flat.size, flat.size // 16)] = np.round(flat[: flat.size // 16] * 8) / 8
    return x


def alike(subject, got, want):
    """Sequences or bytes: names the first difference."""
    TALLY.checked += 1
    if len(got) != len(want):
        TALLY.differ(f"{subject}: count", len(got), len(want))
        return
    if got != want:
        at = [i for i, (a, b) in enumerate(zip(got, want)) if a != b and (a == a or b == b)]
        if at:
            TALLY.differ(f"{subject}: {len(at)} differ, the first at {at[0]}", got[at[0]], want[at[0]])


def same_bits(a, b):
    return model.bits(a) == model.bits(b) or (math.isnan(a) and math.isnan(b))


def unpack(data, width, count, high):
    """Codes without gaps, from bytes."""
    if width >= 8:
        return [int.from_bytes(data[i:i + width // 8], "little") for i in range(0, len(data), width // 8)][:count]
    bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="big" if high else "little")[:count * width]
    bits = bits.reshape(count, width).astype(np.int64)
    weights = 1 << (np.arange(width)[::-1] if high else np.arange(width))
    return (bits @ weights).tolist()


def judge_group(subject, made, members, x, codes, back, scale, zero):
    """One group of the library against one of the model."""
    for at in members:
        code, _ = made.store(float(x[at]))
        TALLY.check(f"{subject} code at {at} of {x[at]!r}", codes[at], code)
        want = made.back(codes[at])
        TALLY.checked += 1
        if not same_bits(float(back[at]), want):
            TALLY.differ(f"{subject} number at {at}", float(back[at]), want)
    TALLY.check(f"{subject} scale", scale, made.scale_code if hasattr(made, "scale_code") else model.bits(made.scale))
    if zero is not None:
        TALLY.check(f"{subject} zero point", zero, made.zero)


def affine_how(name, words):
    """The rules of the options, as the documentation has them."""
    integer = name in model.INTEGERS or name == "int3"
    torch = words.get("like") == "torch"
    signed = name.startswith("int")
    symmetric = integer and (words.get("symmetric") or words.get("symmetry") or
                             (signed and not words.get("affine") and "scale" not in words))
    rule = "none" if not symmetric else words.get("symmetry") or ("half" if torch else "full")
    per = words.get("per") or ("block" if words.get("block") else "channel" if words.get("axis") is not None else "tensor")
    how = {"division": "reciprocal" if torch else words.get("division", "true"), "symmetry": rule,
           "rule": "torch" if torch else "onnx",
           "specials": ("torch" if per == "tensor" else "torch_channel") if torch else "clamp"}
    for end in ("min", "max", "scale"):
        if end in words:
            how[end] = float(np.float32(float(words[end])))
    if "scale" in words:
        how["zero"] = int(words.get("zero_point", 0))
    return per, how


def try_affine(probe, name, x, **words):
    subject = f"{name} {x.shape} {words}"
    answer = probe.run(name, x, **words)
    per, how = affine_how(name, words)
    width = model.FORMATS[name].width
    axis = words.get("axis", 0 if per == "channel" else -1)
    pad = bool(words.get("pad"))
    shape = list(x.shape)
    if per == "block" and pad:
        shape[axis] = -(-shape[axis] // words["block"]) * words["block"]
    TALLY.check(f"{subject}: shape of codes", answer.shape("code_shape"), tuple(shape))
    count = math.prod(shape)
    TALLY.check(f"{subject}: bytes of codes", len(answer.parts["codes"]), (count * width + 7) // 8)
    codes = np.array(unpack(answer.parts["codes"], width, count, words.get("packing") == "high"), np.int64).reshape(shape)
    back = np.frombuffer(answer.back, np.float32).reshape(x.shape)
    group = {"tensor": None, "channel": 1, "block": words.get("block")}[per]
    if group is None:
        whole = [at for at in np.ndindex(x.shape)]
        sets = [((), whole)]
    elif per == "channel":
        sets = [((k,), [at for at in np.ndindex(x.shape) if at[axis] == k]) for k in range(x.shape[axis])]
    else:
        sets = list(groups_of(x.shape, axis, group))
    scales = answer.part("scales", np.uint32).reshape(answer.shape("scale_shape"))
    TALLY.check(f"{subject}: scales", scales.size, len(sets))
    zeros = answer.part("zero_points", np.int32)
    zeros = zeros.reshape(answer.shape("scale_shape")) if zeros.size else None
    clipped = 0
    for place, members in sets:
        made = groups.Affine(name, how, [float(x[at]) for at in members])
        judge_group(subject, made, members, x, codes, back, int(scales[place]), None if zeros is None else int(zeros[place]))
        clipped += sum(made.store(float(x[at]))[1] for at in members)
    TALLY.check(f"{subject}: clipped", int(answer.clipped), clipped)
    TALLY.check(f"{subject}: special", int(answer.special), int(np.count_nonzero(~np.isfinite(x))))
    judge_report(subject, answer, x, back)
    if pad and per == "block" and np.isfinite(x).all():
        beyond = np.take(codes, range(x.shape[axis], shape[axis]), axis)
        if zeros is None:
            TALLY.check(f"{subject}: padding", int(np.count_nonzero(beyond)), 0)


def judge_report(subject, answer, x, back):
    """The figures of the report, from fp64."""
    x, back = np.asarray(x, np.float64).reshape(-1), back.reshape(-1).astype(np.float64)
    finite = np.isfinite(x) & np.isfinite(back)
    error = np.abs(back - x)[finite]
    inexact = int(np.count_nonzero((back != x) & ~(np.isnan(back) & np.isnan(x))))
    TALLY.check(f"{subject}: elements", int(answer.report_elements), x.size)
    TALLY.check(f"{subject}: inexact", int(answer.inexact), inexact)
    TALLY.check(f"{subject}: compared", int(answer.compared), int(np.count_nonzero(finite)))
    largest = float(error.max()) if error.size else 0.0
    TALLY.check(f"{subject}: largest error", float.fromhex(answer.max_absolute), largest)
    mean = math.fsum(error) / error.size if error.size else 0.0
    got = float.fromhex(answer.mean_absolute)
    TALLY.check(f"{subject}: mean error {got} {mean}", math.isclose(got, mean, rel_tol=1e-6, abs_tol=1e-300), True)


def try_blocks(probe, name, x, **words):
    subject = f"{name} {x.shape} {words}"
    answer = probe.run(name, x, **words)
    family, code_name, scale_name, length = model.BLOCKS[name]
    width = {"mxint8": 8, "nf4": 4, "bnb_fp4": 4, "q8_0": 8, "q4_0": 4}.get(name) or model.FORMATS[code_name].width
    axis = words.get("axis", -1) % x.ndim
    high = words.get("packing") == "high"
    pad = bool(words.get("pad"))
    tensor = 1.0
    how = {"division": "reciprocal" if words.get("like") == "torch" else words.get("division", "true"),
           "mx_scale": words.get("mx_scale", "floor"), "nv_scale": words.get("nv_scale", "six")}
    if family == "nv":
        given = words.get("tensor_scale", "auto")
        amax = max((abs(float(v)) for v in x.reshape(-1) if math.isfinite(v)), default=0.0)
        bound = 256 * 6 if how["nv_scale"] == "four-six" else 448 * 6
        tensor = float(np.float32(float(given))) if given not in ("auto", "own", "none") else \
            1.0 if given == "none" else model.divide(amax, float(bound)) or 1.0
        TALLY.check(f"{subject}: tensor scale", float.fromhex(answer.tensor_scale), tensor)
        how["tensor"] = tensor
    shape = list(x.shape)
    count = -(-shape[axis] // length) if shape[axis] else 0
    if pad:
        shape[axis] = count * length
    TALLY.check(f"{subject}: shape of codes", answer.shape("code_shape"), tuple(shape))
    TALLY.check(f"{subject}: shape of scales", answer.shape("scale_shape"),
                tuple(count if i == axis else n for i, n in enumerate(x.shape)))
    scales = answer.part("scales", SCALES[scale_name]).reshape(answer.shape("scale_shape"))
    if axis == x.ndim - 1 and shape[axis] % length != 0 and width < 8:
        row, codes, at = [], [], 0      # each block begins at a whole byte
        for _ in range(math.prod(shape[:-1])):
            for first in range(0, shape[-1], length):
                n = min(length, shape[-1] - first)
                size = (n * width + 7) // 8
                row += unpack(answer.parts["codes"][at:at + size], width, n, high)
                at += size
            codes, row = codes + row, []
        TALLY.check(f"{subject}: bytes of codes", len(answer.parts["codes"]), at)
        codes = np.array(codes, np.int64).reshape(shape)
    else:
        total = math.prod(shape)
        TALLY.check(f"{subject}: bytes of codes", len(answer.parts["codes"]), (total * width + 7) // 8)
        codes = np.array(unpack(answer.parts["codes"], width, total, high), np.int64).reshape(shape)
    back = np.frombuffer(answer.back, np.float32).reshape(x.shape)
    clipped = special = 0
    for place, members in groups_of(x.shape, axis, length):
        values = [float(x[at]) for at in members]
        made = groups.group_of(name, how, values + [0.0] * (length - len(values) if pad else 0))
        judge_group(subject, made, members, x, codes, back, int(scales[place]), None)
        clipped += sum(made.store(v)[1] for v in values)
        special += made.special
    if not pad:
        TALLY.check(f"{subject}: clipped", int(answer.clipped), clipped)
    TALLY.check(f"{subject}: special", int(answer.special), special)
    judge_report(subject, answer, x, back)


def affine_part(probe, rng):
    for name in model.INTEGERS + model.FLOATS:
        x = numbers(rng, (5, 37))
        for words in ({}, {"per": "channel"}, {"axis": 1}, {"axis": -1}, {"block": 16}, {"block": 7, "axis": 0},
                      {"block": 16, "pad": True}, {"block": 3, "axis": 0, "pad": True}, {"min": -2, "max": 3},
                      {"scale": "0.0371"}, {"like": "torch"}, {"like": "torch", "axis": 0}, {"like": "onnx"},
                      {"division": "exact"}, {"division": "reciprocal", "block": 64}):
            try_affine(probe, name, x, **words)
        if name in model.INTEGERS:
            for words in ({"affine": True}, {"symmetric": True}, {"symmetry": "half"}, {"symmetry": "full", "block": 8},
                          {"affine": True, "block": 5}, {"symmetric": True, "axis": 1}, {"scale": "0.05", "zero_point": 1}):
                try_affine(probe, name, x, **words)
            if model.FORMATS[name].width < 8:
                try_affine(probe, name, x, packing="high")
        y = x.copy()
        y[1, 3], y[2, 5], y[3, 36] = np.nan, np.inf, -np.inf
        for words in ({}, {"axis": 0}, {"block": 10}, {"like": "torch"}, {"like": "torch", "axis": 1}):
            try_affine(probe, name, y, **words)
    for shape in ((3, 4, 5), (2, 3, 2, 70), (1,), (), (129, 3)):
        x = numbers(rng, shape)
        for axis in range(-len(shape), len(shape)):
            try_affine(probe, "int8", x, per="channel", axis=axis)
            try_affine(probe, "uint4", x, block=4, axis=axis)
            try_affine(probe, "int4", x, block=4, axis=axis, pad=True)
        try_affine(probe, "uint8", x)
    TALLY.part("affine integers and floats against the model")


def block_part(probe, rng):
    for name in model.BLOCKS:
        family, _, _, length = model.BLOCKS[name]
        narrow = name not in ("mxfp8_e4m3", "mxfp8_e5m2", "mxint8", "q8_0")
        x = numbers(rng, (4, 3 * length))
        variants = [{}, {"axis": 0}]
        if family == "mx":
            variants += [{"mx_scale": word} for word in ("floor", "ceil", "rceil", "even", "rfloor")]
        if family == "nv":
            variants += [{"nv_scale": word} for word in ("six", "four-six", "unrounded")]
            variants += [{"tensor_scale": word} for word in ("none", "own", "auto", "0.01")]
            variants += [{"nv_scale": "four-six", "division": "reciprocal"}, {"nv_scale": "unrounded", "division": "exact"}]
        if family in ("nv", "nf"):
            variants += [{"division": word} for word in ("reciprocal", "exact")] + [{"like": "torch"}]
        if narrow:
            variants += [{"packing": "high"}]
        for words in variants:
            try_blocks(probe, name, x, **words)
        z = numbers(rng, (3, 2 * length + 5))
        for words in ({}, {"pad": True}, {"axis": 0}, {"axis": 0, "pad": True}) + (({"packing": "high"},) if narrow else ()):
            try_blocks(probe, name, z, **words)
        for axis in (0, 1, 2, -1):
            try_blocks(probe, name, numbers(rng, (5, 33, 6)), axis=axis)
        y = numbers(rng, (3, 2 * length))
        y[0, 1], y[1, length], y[2, 3] = np.nan, np.inf, -np.inf
        try_blocks(probe, name, y)
        try_blocks(probe, name, np.zeros((2, length), np.float32))
    TALLY.part("block formats against the model")


def nested_part(probe, rng):
    """bitsandbytes' double quantization: its map and rule, from the paper's construction and fp32 arithmetic."""
    torch = have("torch")
    if torch is None:
        TALLY.skip("torch, which computes the map, is not installed")
        return
    positive = []
    for i in range(7):          # create_dynamic_map()
        borders = torch.linspace(0.1, 1, 2 ** i + 1, dtype=torch.float32)
        positive += (10 ** (i - 6) * ((borders[:-1] + borders[1:]) / 2.0)).tolist()
    table = np.sort(np.array([-p for p in positive] + positive + [0, 1.0], np.float32))
    for name in ("nf4", "bnb_fp4"):
        for size in (64 * 700, 64 * 256, 130):
            x = numbers(rng, (size,))
            for words in ({}, {"packing": "high", "division": "reciprocal"}):
                plain, made = probe.run(name, x, **words), probe.run(name, x, nested=True, **words)
                subject = f"nested {name} {size} {words}"
                alike(f"{subject}: codes", made.parts["codes"], plain.parts["codes"])
                alike(f"{subject}: map", made.part("nested_map", np.float32).tolist(), table.tolist())
                scales, offset = plain.part("scales", np.float32), np.float32(float.fromhex(made.tensor_scale))
                mean = math.fsum(scales) / scales.size
                TALLY.check(f"{subject}: offset", abs(float(offset) - mean) <= 2e-6 * abs(mean), True)
                codes, borders = made.part("scales", np.uint8), (table[:-1] + table[1:]) / np.float32(2)
                own = made.part("nested_scales", np.float32)
                for first in range(0, scales.size, 256):
                    d = scales[first:first + 256] - offset
                    s = np.abs(d).max()
                    TALLY.check(f"{subject}: scale of scales", own[first // 256], s)
                    q = d * (np.float32(1) / s) if s else np.zeros_like(d)
                    want = np.searchsorted(borders, q, "left") if s else np.zeros(d.size, int)
                    alike(f"{subject}: codes of scales", codes[first:first + 256].tolist(), want.tolist())
                again = table[codes] * np.repeat(own, 256)[:scales.size] + offset
                unpacked = np.array(unpack(made.parts["codes"], 4, size, bool(words)), np.int64)
                values = np.array(model.TABLES[name], np.float32)[unpacked] * np.repeat(again, 64)[:size]
                alike(f"{subject}: numbers", np.frombuffer(made.back, np.float32).tolist(), values.tolist())
    matrix = numbers(rng, (6, 100))
    flat, made = probe.run("nf4", matrix.reshape(-1), nested=True), probe.run("nf4", matrix, nested=True)
    TALLY.check("nested matrices are flattened", made.parts, flat.parts)
    TALLY.part("nested scales against bitsandbytes' rule")


def torch_part(probe, rng):
    torch = have("torch")
    if torch is None:
        TALLY.skip("torch is not installed")
        return
    for dtype, name in ((torch.quint8, "uint8"), (torch.qint8, "int8")):
        for scale in (0.0371, 1.0, 3e-5):
            x = numbers(rng, (7, 513))
            for zero in (0, 5):
                want = torch.quantize_per_tensor(torch.from_numpy(x), scale, zero, dtype)
                answer = probe.run(name, x, scale=repr(scale), zero_point=zero, like="torch")
                alike(f"torch {name} {scale} {zero}: codes", answer.parts["codes"],
                            want.int_repr().numpy().tobytes())
                alike(f"torch {name} {scale} {zero}: numbers", np.frombuffer(answer.back, np.float32).tolist(),
                            want.dequantize().numpy().reshape(-1).tolist())
    observers = torch.ao.quantization
    for name, dtype, kind in (("uint8", torch.quint8, torch.per_tensor_affine), ("int8", torch.qint8, torch.per_tensor_symmetric)):
        x = numbers(rng, (64, 64))
        observer = observers.MinMaxObserver(dtype=dtype, qscheme=kind, quant_min=-128 if name == "int8" else 0,
                                            quant_max=127 if name == "int8" else 255)
        observer(torch.from_numpy(x))
        scale, zero = observer.calculate_qparams()
        answer = probe.run(name, x, like="torch")
        TALLY.check(f"torch {name}: scale", answer.part("scales", np.float32)[0], np.float32(scale.item()))
        if name == "uint8":
            TALLY.check("torch uint8: zero point", int(answer.part("zero_points", np.int32)[0]), int(zero.item()))
        want = torch.quantize_per_tensor(torch.from_numpy(x), float(scale), int(zero), dtype)
        alike(f"torch {name}: codes", answer.parts["codes"], want.int_repr().numpy().tobytes())
    TALLY.part("torch's quantize_per_tensor and MinMaxObserver")


def onnx_part(probe, rng):
    """QuantizeLinear and DynamicQuantizeLinear in numpy, as the standard has them."""
    for shape in ((100, 37), (5,)):
        x = numbers(rng, shape)
        low, high = min(0.0, x.min()), max(0.0, x.max())
        scale = np.float32(np.float32(high) - np.float32(low)) / np.float32(255)
        zero = np.clip(np.rint(np.float32(0) - np.float32(low) / scale), 0, 255)
        want = np.clip(np.rint(x / scale) + zero, 0, 255).astype(np.uint8)
        answer = probe.run("uint8", x)
        TALLY.check("onnx: scale", answer.part("scales", np.float32)[0], scale)
        TALLY.check("onnx: zero point", int(answer.part("zero_points", np.int32)[0]), int(zero))
        alike("onnx: codes", answer.parts["codes"], want.tobytes())
        back = (want.astype(np.int32) - np.int32(zero)).astype(np.float32) * scale
        alike("onnx: numbers", answer.back, back.tobytes())
    TALLY.part("ONNX in numpy")


def ml_dtypes_part(probe, rng):
    """Codes of MX and NVFP4 with ml_dtypes' element types, in numpy."""
    ml = have("ml_dtypes")
    if ml is None:
        TALLY.skip("ml_dtypes is not installed")
        return
    kinds = {"mxfp8_e4m3": (ml.float8_e4m3fn, 448), "mxfp8_e5m2": (ml.float8_e5m2, 57344),
             "mxfp6_e3m2": (ml.float6_e3m2fn, 28), "mxfp6_e2m3": (ml.float6_e2m3fn, 7.5), "mxfp4": (ml.float4_e2m1fn, 6)}
    rows = 400 if LONG else 40
    for name, (kind, largest) in kinds.items():
        x = rng.standard_normal((rows, 96)).astype(np.float32)
        blocks = x.reshape(-1, 32)
        exponent = np.frexp(np.abs(blocks).max(1))[1] - 1 - math.frexp(largest)[1] + 1
        scaled = np.clip(np.ldexp(blocks, -exponent[:, None]), -largest, largest)
        codes = scaled.astype(kind).view(np.uint8).reshape(-1)
        answer = probe.run(name, x)
        width = model.FORMATS[model.BLOCKS[name][1]].width
        alike(f"ml_dtypes {name}: scales", answer.part("scales", np.uint8).tolist(), (exponent + 127).tolist())
        alike(f"ml_dtypes {name}: codes", unpack(answer.parts["codes"], width, x.size, False),
                    (codes & (1 << width) - 1).tolist())
        back = np.ldexp(scaled.astype(kind).astype(np.float32), exponent[:, None])
        alike(f"ml_dtypes {name}: numbers", answer.back, back.astype(np.float32).tobytes())
    x = rng.standard_normal((rows, 64)).astype(np.float32)
    blocks = x.reshape(-1, 16)
    tensor = np.abs(x).max() / np.float32(2688)
    scales = np.minimum(np.abs(blocks).max(1) / np.float32(6) / tensor, np.float32(448)).astype(ml.float8_e4m3fn)
    by = scales.astype(np.float32) * tensor
    codes = np.clip(blocks / by[:, None], -6, 6).astype(ml.float4_e2m1fn)
    answer = probe.run("nvfp4", x)
    TALLY.check("ml_dtypes nvfp4: tensor scale", np.float32(float.fromhex(answer.tensor_scale)), tensor)
    alike("ml_dtypes nvfp4: scales", answer.parts["scales"], scales.view(np.uint8).tobytes())
    alike("ml_dtypes nvfp4: codes", unpack(answer.parts["codes"], 4, x.size, False),
                (codes.view(np.uint8).reshape(-1) & 15).tolist())
    alike("ml_dtypes nvfp4: numbers", answer.back, (codes.astype(np.float32) * by[:, None]).tobytes())
    TALLY.part("MX and NVFP4 with ml_dtypes")


def gguf_part(probe, rng):
    """gguf-py: the bytes of the types that it encodes, the numbers of all that it decodes, from random bytes."""
    if have("gguf") is None:
        TALLY.skip("gguf is not installed")
        return
    import gguf
    from gguf import quants
    rows = {row[0]: row for row in probe.blocks() if row[3] == "1"}
    encoded = decoded = 0
    for kind in gguf.GGMLQuantizationType:
        name = kind.name.lower()
        if name not in rows:
            continue
        length, size = gguf.GGML_QUANT_SIZES[kind]
        size = 36 if name == "q8_1" else size       # ggml's, which changed after gguf-py's
        TALLY.check(f"gguf {name}: block", [int(rows[name][1]), int(rows[name][2])], [length, size])
        x = rng.standard_normal((6, 4 * length)).astype(np.float32)
        x[1] *= 1e-6
        x[2] *= 1e3
        x[3, :length] = 0
        # gguf-py rounds q4_0, q5_0 and tq in another way than ggml's C code where a sum is near a tie
        try:
            want = quants.quantize(x, kind)
        except NotImplementedError:
            want = None
        if want is not None and rows[name][4] == "1":
            answer = probe.run(name, x, gguf=True)
            got = np.frombuffer(answer.parts["codes"], np.uint8).reshape(want.shape)
            TALLY.check(f"gguf {name}: shape", answer.shape("code_shape"), want.shape)
            if name == "nvfp4":
                continue
            different = np.argwhere((got != want).reshape(-1, size).any(1))
            TALLY.check(f"gguf {name}: blocks that differ", different.size, 0)
            encoded += 1
            judge_report(f"gguf {name}", answer, x, np.frombuffer(answer.back, np.float32))
        blocks = rng.integers(0, 256, (200 if LONG else 40, size), np.uint8)
        words = {"whole": "0.75"} if name == "nvfp4" else {}        # the scale of the tensor
        try:
            numbers_of = quants.dequantize(blocks, kind)
        except NotImplementedError:
            TALLY.skip(f"gguf-py does not decode {name}")
            continue
        if name == "nvfp4":
            numbers_of = numbers_of * np.float32(0.75)          # exact: codes and scales have few bits
        got = np.frombuffer(probe.read(name, (blocks.shape[0], length), blocks.tobytes(), gguf=True, **words), np.float32)
        want = np.ascontiguousarray(numbers_of, np.float32).reshape(-1)
        bad = ~((got == want) | (np.isnan(got) & np.isnan(want)))
        # gguf-py multiplies in another order than ggml for some types: the last bit may differ
        close = np.isclose(got, want, rtol=3e-7, atol=0)
        TALLY.check(f"gguf {name}: numbers", int(np.count_nonzero(bad & ~close)), 0)
        decoded += 1
    x = rng.standard_normal((300, 128)).astype(np.float32)
    plain, made = probe.run("nvfp4", x), probe.run("nvfp4", x, gguf=True)
    blocks = np.frombuffer(made.parts["codes"], np.uint8).reshape(-1, 36)       # 4 scales; codes half a group apart
    alike("gguf nvfp4: scales", blocks[:, :4].tobytes(), plain.parts["scales"])
    halves = blocks[:, 4:].reshape(-1, 1, 8)
    codes = np.concatenate([halves & 15, halves >> 4], 1).reshape(-1).tolist()
    alike("gguf nvfp4: codes", codes, unpack(plain.parts["codes"], 4, x.size, False))
    TALLY.check("gguf nvfp4: scale of the tensor", float.fromhex(made.tensor_scale),
                model.divide(float(np.abs(x).max()), 2688.0))
    alike("gguf nvfp4: numbers", np.frombuffer(made.back, np.float32).tolist(),      # ggml's code 8 is +0
          np.frombuffer(plain.back, np.float32).tolist())
    print(f"    {encoded} types encoded, {decoded} decoded")
    TALLY.check("gguf: types", encoded >= 5 and decoded >= 20, True)
    TALLY.part("types of GGUF against gguf-py")


def program_part(probe, rng, program):
    """The files that `dtinfo quant` writes for the same arrays."""
    if have("safetensors") is None:
        print("skipped: safetensors, which reads the files of the program, is not installed")
        return
    import safetensors.numpy as st
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        x = numbers(rng, (64, 512))
        x[5, 7] = 3.25e4
        np.save(folder / "x.npy", x)
        st.save_file({"m.weight": x}, folder / "x.safetensors")
        def quant(name, *options):
            out = folder / "out.safetensors"
            done = subprocess.run([program, "quant", folder / "x.safetensors", name, "-o", out, "--force", *options],
                                  check=False, capture_output=True)
            if done.returncode == 2 and b"last axis" in done.stderr:
                return None
            TALLY.check(f"program {name} {options}: exit code {done.stderr}", done.returncode, 0)
            raw = out.read_bytes()
            import json
            size = int.from_bytes(raw[:8], "little")
            head = json.loads(raw[8:8 + size])
            return {key: raw[8 + size + part["data_offsets"][0]:8 + size + part["data_offsets"][1]]
                    for key, part in head.items() if key != "__metadata__"}
        plain = ["int8", "uint8", "int16", "uint16", "fp8_e4m3fn", "fp8_e5m2", "fp8_e4m3fnuz"]
        for name in plain + list(model.BLOCKS):
            for options, words in (((), {}), (("--axis=0",), {"axis": 0})) + \
                    (() if name in model.BLOCKS else ((("--block=128",), {"block": 128}), (("--like=torch",), {"like": "torch"}))):
                if name in ("nf4", "bnb_fp4") and words:
                    continue
                # compressed-tensors stores the reciprocal of nvfp4's tensor scale, and its codes follow that
                parts = quant(name, *options, *(["--layout=modelopt"] if name == "nvfp4" else []))
                if parts is None:
                    continue
                answer = probe.run(name, x, **words)
                subject = f"program {name} {options}"
                values = list(parts.values())
                codes = [v for k, v in parts.items() if k.endswith(("weight", "packed"))]
                scales = [v for k, v in parts.items() if k.endswith("_scale") and not k.endswith("global_scale")]
                scales += [v for k, v in parts.items() if k.endswith("_scale")]
                TALLY.check(f"{subject}: codes", answer.parts["codes"] in codes, True)
                TALLY.check(f"{subject}: scales", answer.parts["scales"] in scales, True)
                del values
        for name in ("nf4", "bnb_fp4"):
            for nested in (False, True):
                parts = quant(name, "--layout=bitsandbytes", *(["--nested-absmax"] if nested else []))
                answer = probe.run(name, x.reshape(-1), packing="high", division="reciprocal", nested=nested)
                alike(f"program {name} nested {nested}: codes", answer.parts["codes"], parts["m.weight"])
                alike(f"program {name} nested {nested}: scales", answer.parts["scales"], parts["m.weight.absmax"])
                if nested:
                    alike(f"program {name}: nested scales", answer.parts["nested_scales"],
                                parts["m.weight.nested_absmax"])
                    alike(f"program {name}: nested map", answer.parts["nested_map"],
                                parts["m.weight.nested_quant_map"])
        if have("gguf") is None:
            TALLY.skip("gguf is not installed, so that there is no file of that kind")
            return
        import gguf
        writer = gguf.GGUFWriter(folder / "x.gguf", "llama")
        writer.add_tensor("blk.0.attn_q.weight", x)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        for row in probe.blocks():
            if row[3] != "1" or row[4] != "1":
                continue
            out = folder / "out.gguf"
            done = subprocess.run([program, "quant", folder / "x.gguf", row[0], "-o", out, "--force"], check=False,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            TALLY.check(f"program gguf {row[0]}: exit code {done.stderr}", done.returncode, 0)
            answer = probe.run(row[0], x, gguf=True)
            TALLY.check(f"program gguf {row[0]}: blocks", answer.parts["codes"] in out.read_bytes(), True)
    TALLY.part("files of the program")


def numbers_part(probe, rng):
    """Numbers of other formats: rounded to fp32 first, and on the way back."""
    ml = have("ml_dtypes")
    kinds = {"fp16": np.float16, "fp64": np.float64, "int8": np.int8, "int32": np.int32, "int64": np.int64}
    if ml:
        kinds |= {"bf16": ml.bfloat16, "fp8_e4m3fn": ml.float8_e4m3fn, "fp4_e2m1": ml.float4_e2m1fn, "int4": ml.int4}
    for number, kind in kinds.items():
        x = (rng.standard_normal((9, 512)) * (5 if number.startswith("int") else 1)).astype(kind)
        wide = x.astype(np.float32) if number != "fp64" else x.astype(np.float32)
        real = not number.startswith("int")
        for name, words in (("int8", {}), ("int8", {"axis": 0}), ("uint4", {"block": 32}), ("mxfp4", {}), ("nvfp4", {}),
                            ("mxfp8_e4m3", {"axis": 0}), ("nf4", {"nested": True}), ("q6_k", {}), ("nvfp4", {"gguf": True})):
            plain = probe.run(name, wide, **words)
            data = np.ascontiguousarray(x)
            if data.dtype.itemsize == 1:
                data = data.view(np.uint8)
            made = probe.ask("run", data.tobytes(), format=name, shape=x.shape, number=number, back=int(real), report=1,
                             _item=x.dtype.itemsize, **words)
            subject = f"{name} {words} of {number}"
            TALLY.check(f"{subject}: parts", made.parts, plain.parts)
            if real:
                want = np.frombuffer(plain.back, np.float32).astype(kind)
                got = np.frombuffer(made.back, kind)
                mask = 15 if number == "fp4_e2m1" else 255
                if want.dtype.itemsize == 1:
                    want, got = want.view(np.uint8) & mask, got.view(np.uint8) & mask
                alike(f"{subject}: numbers", got.tobytes(), want.tobytes())
    TALLY.part("numbers of other formats")


CASES = [("int8", {}), ("int8", {"axis": 0}), ("int16", {"axis": 1}), ("uint4", {"block": 32}), ("int2", {"block": 7, "axis": 0}),
         ("fp8_e4m3fn", {"block": 64}), ("mxfp8_e4m3", {}), ("mxfp4", {"axis": 0}), ("mxfp6_e3m2", {}), ("nvfp4", {}),
         ("nvfp4", {"nv_scale": "four-six"}), ("nf4", {}), ("nf4", {"nested": True}), ("q8_0", {}), ("q4_k", {}),
         ("q6_k", {}), ("iq4_nl", {}), ("nvfp4", {"gguf": True}), ("uint16", {})]


def sameness_part(path, rng):
    """The same bytes for each CPU level, thread count and address."""
    one = Probe(path, 1)
    others = {"3 threads": (Probe(path, 3), {}), "odd addresses": (one, {"offset": 1}), "odd words": (one, {"offset": 2}),
              "4 threads at odd addresses": (Probe(path, 4), {"offset": 3})}
    for level in ("none", "avx2"):
        others[level] = (Probe(path, 2, level), {})
    big = numbers(rng, (700, 1024))
    small = numbers(rng, (7, 256))
    for name, words in CASES:
        for x in (big, small):
            want = one.run(name, x, **words)
            for what, (probe, more) in others.items():
                made = probe.run(name, x, **words, **more)
                subject = f"{name} {words} {x.shape} {what}"
                TALLY.check(f"{subject}: parts", made.parts, want.parts)
                alike(f"{subject}: numbers", made.back, want.back)
                TALLY.check(f"{subject}: report", vars(made)["mean_absolute"], vars(want)["mean_absolute"])
                TALLY.check(f"{subject}: other memory", made.clean, "1")
    for probe in {id(p): p for p, _ in others.values()}.values():
        probe.close()
    TALLY.part("threads, levels and addresses")


def empty_part(probe):
    for shape in ((0,), (0, 256), (3, 0), (2, 0, 256), (0, 2 ** 40, 256)):
        for name, words in CASES:
            if words.get("axis", 0) >= len(shape) or (words.get("axis") and 2 ** 40 in shape):
                continue
            made = probe.ask("run", b"", format=name, shape=shape, back=1, report=1, **words)
            TALLY.check(f"{name} {words} {shape}: codes", len(made.parts["codes"]), 0)
            per_tensor = name in ("int8", "uint16") and not words
            if per_tensor:
                TALLY.check(f"{name} {shape}: scale", made.part("scales", np.float32).tolist(), [1.0])
    TALLY.part("arrays without elements")


def errors_part(probe):
    """What is refused, and how."""
    x = np.ones((4, 64), np.float32)
    cases = [
        (dict(format="int8", symmetry="ful"), "unknown_option", "symmetry takes one of full, half; got 'ful'", ["full"]),
        (dict(format="mxfp4", mx_scale="rciel"), "unknown_option",
         "mx-scale takes one of floor, ceil, rceil, even, rfloor; got 'rciel'", ["rceil"]),
        (dict(format="int8", like="vllm"), "unknown_option", "like takes one of torch, onnx; got 'vllm'", []),
        (dict(format="int8", mx_scale="ceil"), "usage", "mx-scale is for the MX formats, not for int8; leave it out", []),
        (dict(format="mxfp4", block=32), "usage",
         "block is for integers and scaled floats, not for mxfp4; its blocks have their own scales", []),
        (dict(format="int8", tensor_scale="none"), "usage", "tensor-scale is for nvfp4, not for int8; leave it out", []),
        (dict(format="mxfp4", nested=1), "usage", "nested-absmax is for nf4 and bnb_fp4, not for mxfp4; leave it out", []),
        (dict(format="nf4", nested=1, axis=0), "usage", "nested-absmax flattens the array; leave out axis", []),
        (dict(format="int8", packing="high"), "usage",
         "packing is for codes of less than 8 bits; int8 has 8: leave it out", []),
        (dict(format="int8", pad=1), "usage", "pad is for blocks; give block N, or leave it out", []),
        (dict(format="int8", per="block"), "usage", "per block needs block N, as in block 128", []),
        (dict(format="int8", min=3), "usage", "for an array min needs max too", []),
        (dict(format="int8", min=3, max=1), "usage", "min '3' is greater than max '1'; swap them", []),
        (dict(format="int8", scale="-1"), "bad_value",
         "scale '-1' is not a scale; give a positive number within the range of fp32", []),
        (dict(format="nvfp4", tensor_scale="x"), "bad_value", None, []),
        (dict(format="int8", axis=2), "usage", "the array has 2 dimensions and no axis 2", []),
        (dict(format="int8", axis=-3), "usage", "the array has 2 dimensions and no axis -3", []),
        (dict(format="mxfp5"), "unknown_dtype", None, ["mxfp4"]),
        (dict(format="q4_kk"), "unknown_dtype", "unknown dtype 'q4_kk'; did you mean 'q4_k'?", ["q4_k"]),
        (dict(format="q8_00", gguf=1), "unknown_dtype", "'q8_00' is no type of gguf files; did you mean 'q8_0'?", ["q8_0"]),
        (dict(format="iq2_xxs"), "wrong_kind", "the array has rows of 64 elements, and iq2_xxs needs whole blocks of 256", []),
        (dict(format="fp32"), "wrong_kind", None, []),
        (dict(format="q4_k"), "wrong_kind", "the array has rows of 64 elements, and q4_k needs whole blocks of 256", []),
        (dict(format="q8_0", gguf=1, axis=0), "usage",
         "axis is not for gguf files, whose types say how numbers are quantized; leave it out", []),
        (dict(format="q8_0", gguf=1, block=32), "usage",
         "block is not for gguf files, whose types say how numbers are quantized; leave it out", []),
        (dict(format="int8", gguf=1), "unknown_dtype", None, []),
        (dict(format="int8", block=65537), "usage", "block takes an integer from 1 to 65536; got 65537", []),
        (dict(format="int8", number="complex64"), "wrong_kind", None, []),
        (dict(format="q8_0", gguf=1, number="complex64"), "wrong_kind", None, []),
        (dict(format="int8", missing=1), "usage", "the buffer of codes is missing", []),
        (dict(format="int8", number="int32", back=1), "wrong_kind", "dequantized numbers are floats, and int32 is not one", []),
    ]
    for words, code, text, suggestions in cases:
        data = np.zeros((4, 64), np.complex64 if words.get("number") == "complex64" else np.float32).tobytes()
        try:
            probe.ask("run", data, shape=x.shape, **words)
            TALLY.check(f"{words} fails", "it did not", code)
        except Failed as failed:
            TALLY.check(f"{words}: code", failed.code, code)
            TALLY.check(f"{words}: text", failed.text, failed.text if text is None else text)
            TALLY.check(f"{words}: suggestions", failed.suggestions[:1], suggestions)
    for shape, code in (((2,) * 9, "usage"), ((2 ** 40, 2 ** 40), "usage"), ((2 ** 62,), "usage")):
        for words in (dict(format="int8"), dict(format="int8", axis=0), dict(format="mxfp4"), dict(format="q8_0", gguf=1)):
            try:
                probe.ask("run", b"", shape=shape, **words)
                TALLY.check(f"{words} {shape} fails", "it did not", code)
            except Failed as failed:
                TALLY.check(f"{words} {shape}: code", failed.code, code)
    bad = np.ones((3, 256), np.float32)
    bad[2, 7] = np.inf
    for name, words in (("q8_0", {"gguf": True}), ("q4_k", {}), ("nvfp4", {"gguf": True}), ("nf4", {"nested": True})):
        try:
            probe.run(name, bad, **words)
            TALLY.check(f"{name} of infinity fails", "it did not", "")
        except Failed as failed:
            TALLY.check(f"{name} of infinity", failed.code, "not_representable")
    for report in (0, 1):
        try:
            probe.run("q8_0", np.full((1, 256), 1e8, np.float32), gguf=True, report=report)
            TALLY.check("q8_0 of 1e8 fails", "it did not", "")
        except Failed as failed:
            TALLY.check("q8_0 of 1e8", failed.text,
                        "the array: the block of element 0 needs a scale beyond fp16, which q8_0 has no room for")
    largest = np.full((1, 256), 65504, np.float32)       # of fp16: held by all that multiply a code by a scale
    for name in ("q4_0", "q5_0", "q8_0", "q6_k"):
        answer = probe.run(name, largest, gguf=True, report=0)
        TALLY.check(f"{name} of 65504", bool(np.isfinite(np.frombuffer(answer.back, np.float32)).all()), True)
    TALLY.part("what is refused")


def trouble_part(path):
    """Memory that runs out at each allocation in turn, and calls that are cancelled."""
    probe = Probe(path, 1, "", True)
    probe.run("int3", np.ones(8, np.float32))       # a context keeps formats that are no rows of the table
    x = np.ones((8, 256), np.float32)
    for name, words in CASES + [("int8", {"offset": 1}), ("nf4", {"nested": True, "offset": 1}), ("int3", {})]:
        for count in range(100):
            try:
                probe.run(name, x, fail=count, **words)
                break
            except Failed as failed:
                TALLY.check(f"{name} {words} without memory {count}: {failed}", failed.code, "no_memory")
        TALLY.check(f"{name} {words}: allocations", 0 < count < 99, True)
    large = np.ones((16384, 1024), np.float32)          # the caller is asked after 20 ms
    for name, words in (("uint4", {"block": 4}), ("q4_k", {})):
        try:
            probe.run(name, large, cancel=1, back=0, report=0, **words)
            TALLY.check(f"{name} {words} is cancelled", "it was not", "")
        except Failed as failed:
            TALLY.check(f"{name} {words} is cancelled", failed.code, "cancelled")
        probe.run(name, x, **words)
    probe.close()
    TALLY.part("memory and cancellation")


def main():
    np.seterr(all="ignore")
    rng = np.random.default_rng(33)
    probe = Probe(ARGUMENTS[0], 2)
    errors_part(probe)
    empty_part(probe)
    trouble_part(ARGUMENTS[0])
    onnx_part(probe, rng)
    torch_part(probe, rng)
    ml_dtypes_part(probe, rng)
    nested_part(probe, rng)
    gguf_part(probe, rng)
    numbers_part(probe, rng)
    sameness_part(ARGUMENTS[0], rng)
    if len(ARGUMENTS) > 1:
        program_part(probe, rng, ARGUMENTS[1])
    affine_part(probe, rng)
    block_part(probe, rng)
    probe.close()
    TALLY.finish()


main()
