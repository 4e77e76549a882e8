# SPDX-License-Identifier: MIT
"""Quantization of NaN and infinities. Results that references define are compared with them: torch.quantize_per_tensor
and quantize_per_channel (--like torch), fake quantization, onnxruntime's QuantizeLinear, gfloat and ml_dtypes for
floats. Where they disagree or define nothing, the rule of dtinfo-quant(1) applies:

- an integer: a NaN becomes the zero point, an infinity the code at that end
- a float: a NaN stays the dtype's NaN, and becomes zero if the dtype has none; an infinity becomes the largest number
- a block with either: the scale becomes the NaN of its dtype, codes zero
- neither takes part in a range

For an integer NaN torch.quantize_per_tensor gives the highest code, or the lowest if the zero point is above 127;
onnxruntime and fake quantization give the lowest; ONNX does not define it.

Usage: test_quant_specials.py QUANT_PROBE DTINFO [--long]
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import warnings

import harness
import quant_arrays as arrays
import quant_model as model
from tensor_files import read_file, write_file

np = arrays.np
SCALE_NAN = {"fp8_e8m0": 0xFF, "fp8_e4m3fn": 0x7F, "fp16": 0x7E00, "fp32": 0x7FC00000}
SCALES = (0.1, 1.0, 3e-5, 7e20, 1e-30)
# quiet and signalling NaNs of interest, of both signs
NANS = [0x7FC00000, 0xFFC00000, 0x7F800001, 0xFF800001, 0x7FFFFFFF, 0xFFFFFFFF]


def specials():
    """NaNs and infinities, and their neighbours, in runs of many lengths."""
    some = np.array([*NANS, 0x7F800000, 0xFF800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x3F800000], np.uint32).view(np.float32)
    return np.concatenate([some, np.tile(some, 7), np.repeat(some, 17)])


def zeros_of(low, high):
    return sorted({low, low + 1, min(max(-5, low), high), 0, (low + high) // 2, high - 1, high})


# The rule.

def by_rule(tally, probe):
    x = specials()
    kinds = [(code, *model.integer_range(code)) for code in model.INTEGERS] + [(code, 0, 0) for code in model.FLOATS]
    for code, low, high in kinds:
        integer = code in model.INTEGERS
        for scale in np.float32(SCALES):
            for zero in zeros_of(low, high) if integer else (0,):
                for division in (model.TRUE, model.RECIPROCAL, model.EXACT):
                    got = arrays.affine(probe, code, low, high, division, model.CLAMP, scale, zero, x)
                    if integer:
                        nan, ends = zero, (high, low)
                    else:
                        nan = model.element(code).nan()
                        top = model.FORMATS[code].max_index
                        ends = (top, top | model.FORMATS[code].sign_bit)
                    which = ~np.isfinite(x)
                    want = np.where(np.isnan(x), nan, np.where(x > 0, ends[0], ends[1]))
                    arrays.same(tally, f"rule {code} {scale!r} {zero} {division}", got[which], want[which], x[which])


def blocks_by_rule(tally, probe, turns):
    """A special value at each position of a block, full and short, among ordinary numbers and other special values."""
    rng = np.random.default_rng(21)
    for name, (family, _, scale, length) in model.BLOCKS.items():
        for rule in range({"mx": 4, "nv": 2}.get(family, 1)):
            for division in range(3) if family in ("nv", "nf") else (0,):
                for size in (length, 1, 3):
                    x = np.tile(rng.standard_normal((turns, size)).astype(np.float32), (size, 1))
                    x[np.arange(len(x)), np.repeat(np.arange(size), turns)] = rng.choice(specials()[:8], len(x))
                    scales, codes, special = arrays.blocks(probe, name, rule, division, 0.5 if family == "nv" else 1.0, x)
                    zero = model.ZERO.get(name, 0)
                    arrays.same(tally, f"block {name}: scales", scales, np.full(len(x), SCALE_NAN[scale]))
                    arrays.same(tally, f"block {name}: codes", codes, np.full(codes.shape, zero))
                    arrays.same(tally, f"block {name}: special", special, np.ones(len(x)))


# Other libraries.

def torch_specials(tally, probe, torch):
    x = specials()
    tensor = torch.from_numpy(x)
    for code, kind, low, high in (("int8", torch.qint8, -128, 127), ("uint8", torch.quint8, 0, 255)):
        for scale in np.float32(SCALES):
            for zero in zeros_of(low, high):
                subject = f"{code} {scale!r} {zero}"
                there = torch.quantize_per_tensor(tensor, float(scale), zero, kind).int_repr().numpy()
                here = arrays.affine(probe, code, low, high, model.RECIPROCAL, model.AS_TORCH, scale, zero, x)
                arrays.same(tally, "torch.quantize_per_tensor " + subject, here, there, x)
                if zero <= 127:
                    arrays.same(tally, "its NaN " + subject, there[np.isnan(x)], np.full(np.isnan(x).sum(), high))
                there = torch.quantize_per_channel(tensor[None], torch.tensor([float(scale)], dtype=torch.float64),
                                                   torch.tensor([zero]), 0, kind).int_repr().numpy()[0]
                here = arrays.affine(probe, code, low, high, model.RECIPROCAL, model.AS_TORCH_CHANNEL, scale, zero, x)
                arrays.same(tally, "torch.quantize_per_channel " + subject, here, there, x)
                # fake quantization returns numbers, and the lowest for a NaN
                there = torch.fake_quantize_per_tensor_affine(tensor, float(scale), zero, low, high).numpy()
                clamped = arrays.affine(probe, code, low, high, model.RECIPROCAL, model.CLAMP, scale, zero, x)
                clamped = np.where(np.isnan(x), low, clamped)
                here = arrays.affine_back(probe, code, scale, zero, clamped)
                arrays.same(tally, "torch.fake_quantize_per_tensor_affine " + subject, here + np.float32(0), there + np.float32(0), x)


def quantize_linear(onnxruntime, onnx, kind, back):
    """QuantizeLinear with a given scale and a zero point of 0; back: also the dequantized codes, as floats."""
    helper, types = onnx.helper, onnx.TensorProto
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"])]
    if back:
        nodes += [helper.make_node("DequantizeLinear", ["q", "one", "z"], ["y"])]
    zero = helper.make_tensor("z", kind, [], bytes(2 if kind in (types.INT16, types.UINT16) else 1), raw=True)
    one = helper.make_tensor("one", types.FLOAT, [], [1.0])
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", types.FLOAT, [None]),
                                           helper.make_tensor_value_info("s", types.FLOAT, [])],
                              [helper.make_tensor_value_info("y" if back else "q", types.FLOAT if back else kind, None)],
                              [zero, one] if back else [zero])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
    return onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])


def onnx_specials(tally, probe, onnxruntime, onnx):
    x, types = specials(), onnx.TensorProto
    for code, kind in (("int8", types.INT8), ("uint8", types.UINT8), ("int16", types.INT16), ("uint16", types.UINT16)):
        low, high = model.integer_range(code)
        run = quantize_linear(onnxruntime, onnx, kind, False)
        for scale in np.float32(SCALES):
            there = run.run(None, {"x": x, "s": np.array(scale)})[0]
            here = arrays.affine(probe, code, low, high, model.TRUE, model.CLAMP, scale, 0, x)
            arrays.same(tally, f"QuantizeLinear {code} {scale!r}", np.where(np.isnan(x), low, here), there, x)
    for code, kind in (("fp8_e4m3fn", types.FLOAT8E4M3FN), ("fp8_e5m2", types.FLOAT8E5M2),
                       ("fp8_e4m3fnuz", types.FLOAT8E4M3FNUZ), ("fp8_e5m2fnuz", types.FLOAT8E5M2FNUZ)):
        run = quantize_linear(onnxruntime, onnx, kind, True)
        for scale in np.float32(SCALES):
            there = run.run(None, {"x": x, "s": np.array(scale)})[0]
            here = arrays.affine(probe, code, 0, 0, model.TRUE, model.CLAMP, scale, 0, x)
            arrays.same(tally, f"QuantizeLinear {code} {scale!r}", arrays.affine_back(probe, code, np.float32(1), 0, here), there, x)


FLOAT_NAMES = {"fp8_e4m3fn": "float8_e4m3fn", "fp8_e5m2": "float8_e5m2", "fp8_e4m3fnuz": "float8_e4m3fnuz",
               "fp8_e5m2fnuz": "float8_e5m2fnuz", "fp8_e4m3": "float8_e4m3", "fp8_e3m4": "float8_e3m4",
               "fp6_e3m2": "float6_e3m2fn", "fp6_e2m3": "float6_e2m3fn", "fp4_e2m1": "float4_e2m1fn"}


def ml_dtypes_specials(tally, probe, ml_dtypes):
    """The quotient in fp32, clamped and cast; a NaN keeps its sign, and becomes zero if the dtype has no NaN."""
    x = specials()
    for code, name in FLOAT_NAMES.items():
        kind = getattr(ml_dtypes, name)
        largest = np.float32(ml_dtypes.finfo(kind).max)
        for scale in np.float32(SCALES):
            with np.errstate(all="ignore"):
                there = np.clip(x / scale, -largest, largest).astype(kind).astype(np.float32)
            codes = arrays.affine(probe, code, 0, 0, model.TRUE, model.CLAMP, scale, 0, x)
            here = arrays.affine_back(probe, code, np.float32(1), 0, codes)
            arrays.same(tally, f"ml_dtypes {code} {scale!r}", here, np.where(there == 0, np.abs(there), there), x)


def gfloat_specials(tally, probe, gfloat):
    from gfloat import formats as gf
    forms = {"fp8_e4m3fn": gf.format_info_ocp_e4m3, "fp8_e5m2": gf.format_info_ocp_e5m2, "fp6_e3m2": gf.format_info_ocp_e3m2,
             "fp6_e2m3": gf.format_info_ocp_e2m3, "fp4_e2m1": gf.format_info_ocp_e2m1}
    for code, form in forms.items():
        x = np.float32([math.inf, -math.inf, 3e38, -3e38, math.nan])
        here = arrays.affine_back(probe, code, np.float32(1), 0,
                                  arrays.affine(probe, code, 0, 0, model.TRUE, model.CLAMP, np.float32(1), 0, x))
        for value, got in zip(x, here):
            try:
                want = gfloat.round_float(form, float(value), sat=True)
            except ValueError:      # "No NaN in format"
                want = 0.0
            arrays.same(tally, f"gfloat {code} of {value!r}", got[None], np.float32([want]))


# Files: the kernels, and ranges.

def write(path, x):
    write_file(path, {"a": ("F32", x.shape, x.tobytes())})


def read(path):
    kinds = {"F32": np.float32, "I8": np.int8, "U8": np.uint8, "I16": np.int16, "U16": np.uint16, "F16": np.uint16}
    return {name: np.frombuffer(raw, kinds.get(dtype, np.uint8)) for name, (dtype, _, raw) in read_file(path).items()}


def files(tally, program, turns):
    """A tensor with special values has the scale of one with zeros in their places, and that tensor's codes."""
    rng = np.random.default_rng(22)
    for turn in range(turns):
        x = rng.standard_normal((8, 192)).astype(np.float32) * np.float32(2.0 ** rng.integers(-20, 20))
        places = rng.random(x.shape) < rng.choice([0.002, 0.05, 0.9])
        x[places] = rng.choice(specials()[:8], places.sum())
        x[0, 0] = 1
        places[0, 0] = False
        write("x.safetensors", x)
        write("plain.safetensors", np.where(places, np.float32(0), x))
        for code in ("int8", "uint8", "int16", "fp8_e4m3fn", "fp8_e5m2"):
            for words in ([], ["--per", "channel"], ["--block", "32"]):
                made = []
                for name in ("x", "plain"):
                    done = subprocess.run([program, "quant", name + ".safetensors", code, "-o", "q.safetensors", "--force",
                                           "--json", *words], stdout=subprocess.PIPE, check=True)
                    made.append((read("q.safetensors"), json.loads(done.stdout)["tensors"][0]))
                (here, report), (plain, _) = made
                subject = f"file {turn} {code} {words}"
                arrays.same(tally, subject + " scales", here["a_scale"], plain["a_scale"])
                zero = plain.get("a_zero_point", np.zeros(1, np.int64)).astype(np.int64)
                wide = np.repeat(zero, x.size // zero.size).reshape(x.shape)
                if code in model.INTEGERS:
                    high = model.integer_range(code)[1]
                    low = -high if code.startswith("int") else 0
                    want = np.where(np.isnan(x), wide, np.where(x > 0, high, low))
                else:
                    top = model.FORMATS[code].max_index
                    want = np.where(np.isnan(x), model.element(code).nan(), np.where(x > 0, top, top | 0x80))
                want = np.where(places, want, plain["a"].astype(np.int64).reshape(x.shape))
                arrays.same(tally, subject + " codes", here["a"].reshape(x.shape).astype(np.int64), want, x)
                tally.check(subject + " special", report["special"], int(places.sum()))
        for name in ("mxfp8_e4m3", "mxint8", "q8_0"):       # one code per byte
            subprocess.run([program, "quant", "x.safetensors", name, "-o", "q.safetensors", "--force", "-q"], check=True)
            here = read("q.safetensors")
            bad = places.reshape(-1, 32).any(1)
            wanted = SCALE_NAN[model.BLOCKS[name][2]]
            arrays.same(tally, f"file {turn} {name} scales", here["a_scale"] == wanted, bad)
            arrays.same(tally, f"file {turn} {name} codes", here["a"].reshape(-1, 32)[bad], np.zeros((bad.sum(), 32)))


def main():
    words = [word for word in sys.argv[1:] if word != "--long"]
    long = "--long" in sys.argv
    if len(words) != 2:
        sys.exit("usage: test_quant_specials.py QUANT_PROBE DTINFO [--long]")
    probe, program = map(os.path.abspath, words)
    tally = harness.Tally()
    warnings.simplefilter("ignore")
    if np is None:
        tally.skip("numpy is missing")
        tally.finish()
    by_rule(tally, probe)
    tally.part("the rule: integers and floats")
    blocks_by_rule(tally, probe, 50 if long else 2)
    tally.part("the rule: blocks")
    for name, part in (("torch", torch_specials), ("ml_dtypes", ml_dtypes_specials), ("gfloat", gfloat_specials)):
        found = harness.have(name)
        if found:
            part(tally, probe, found)
            tally.part(name)
        else:
            tally.skip(name + " is missing")
    onnxruntime, onnx = harness.have("onnxruntime"), harness.have("onnx")
    if onnxruntime and onnx:
        onnx_specials(tally, probe, onnxruntime, onnx)
        tally.part("onnxruntime")
    else:
        tally.skip("onnxruntime or onnx is missing")
    with tempfile.TemporaryDirectory(prefix="dtinfo-specials-") as folder:
        os.chdir(folder)
        files(tally, program, 40 if long else 2)
        tally.part("files")
        os.chdir("/")
    tally.finish()


main()
