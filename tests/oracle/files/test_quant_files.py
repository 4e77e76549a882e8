#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Quantized files against other libraries' results for the same tensors: torch's observers and quantize functions,
onnxruntime, gfloat's block formats, and compressed-tensors, whose compressors must write our bytes and read our files.

usage: test_quant_files.py DTINFO
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

from harness import Tally, have

PROGRAM = os.path.abspath(sys.argv[1])
try:
    import numpy as np
except ImportError:
    print("skipped: needs numpy")
    sys.exit(77)


torch, gfloat, onnxruntime, onnx = (have(name) for name in ("torch", "gfloat", "onnxruntime", "onnx"))
safetensors, compressed = have("safetensors"), have("compressed_tensors")
if safetensors:
    import safetensors.numpy
if safetensors and torch:
    import safetensors.torch
RANDOM = np.random.default_rng(20240611)
TALLY = Tally()


def quant(*words):
    for part in glob.glob("q_*.npy"):       # left from an earlier output; the program does not touch them
        os.remove(part)
    done = subprocess.run([PROGRAM, "quant", *words, "--force", "-q"], stderr=subprocess.PIPE)
    if done.returncode:
        sys.exit("quant %s: %s" % (" ".join(words), done.stderr.decode()))


def same(what, ours, theirs):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    TALLY.checked += ours.size
    if ours.shape != theirs.shape:
        TALLY.differ(what, ours.shape, theirs.shape)
    elif not np.array_equal(ours, theirs):
        at = tuple(np.argwhere(ours != theirs)[0])
        TALLY.differ("%s at %s" % (what, at), ours[at], theirs[at])


def lesson():
    """A 2048 x 1024 normal matrix to int8, as notebooks do it in torch."""
    x = RANDOM.standard_normal((2048, 1024), dtype=np.float32)
    np.save("w.npy", x)
    if not torch:
        TALLY.skip("torch")
        return
    from torch.ao.quantization import observer
    tensor = torch.from_numpy(x)
    per_tensor = [("int8", torch.qint8, torch.per_tensor_affine, ["--affine"]),
                  ("uint8", torch.quint8, torch.per_tensor_affine, []),
                  ("int8", torch.qint8, torch.per_tensor_symmetric, [])]
    for dtype, theirs, scheme, words in per_tensor:
        seen = observer.MinMaxObserver(dtype=theirs, qscheme=scheme)
        seen(tensor)
        scale, zero = seen.calculate_qparams()
        quant("w.npy", dtype, "-o", "q.npy", "--like", "torch", *words)
        what = "%s, %s" % (dtype, scheme)
        same(what + ": scale", np.load("q_scale.npy"), scale.numpy().astype(np.float32))
        if words or dtype == "uint8":
            same(what + ": zero point", np.load("q_zero_point.npy").astype(np.int64), zero.numpy().astype(np.int64))
        codes = torch.quantize_per_tensor(tensor, float(scale), int(zero), theirs)
        same(what + ": codes", np.load("q.npy"), codes.int_repr().numpy())
        sizes = os.path.getsize("w.npy") - 128, os.path.getsize("q.npy") - 128
        TALLY.check(what + ": bytes", sizes, (8 << 20, 2 << 20))
    for axis in (0, 1):
        seen = observer.PerChannelMinMaxObserver(ch_axis=axis, dtype=torch.qint8, qscheme=torch.per_channel_symmetric)
        seen(tensor)
        scale, zero = seen.calculate_qparams()
        quant("w.npy", "int8", "-o", "q.npy", "--like", "torch", "--per", "channel", "--axis", str(axis))
        what = "int8, channels of axis %d" % axis
        same(what + ": scale", np.load("q_scale.npy").reshape(-1), scale.numpy().astype(np.float32))
        codes = torch.quantize_per_channel(tensor, scale, zero, axis, torch.qint8)
        same(what + ": codes", np.load("q.npy"), codes.int_repr().numpy())
    TALLY.part("torch")


def by_onnx():
    if not (onnxruntime and onnx):
        TALLY.skip("onnxruntime")
        return
    from onnx import TensorProto, helper
    x = RANDOM.standard_normal((300, 257), dtype=np.float32) * 3
    np.save("w.npy", x)
    nodes = [helper.make_node("DynamicQuantizeLinear", ["x"], ["y", "scale", "zero"])]
    outputs = [helper.make_tensor_value_info(name, kind, None) for name, kind in
               (("y", TensorProto.UINT8), ("scale", TensorProto.FLOAT), ("zero", TensorProto.UINT8))]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [300, 257])], outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    codes, scale, zero = session.run(None, {"x": x})
    quant("w.npy", "uint8", "-o", "q.npy", "--like", "onnx")
    same("uint8 like onnx: scale", np.load("q_scale.npy").reshape(()), scale)
    same("uint8 like onnx: zero point", np.load("q_zero_point.npy").reshape(()), zero)
    same("uint8 like onnx: codes", np.load("q.npy"), codes)
    TALLY.part("onnxruntime")


def tensors_of(path):
    return safetensors.torch.load_file(path) if torch else safetensors.numpy.load_file(path)


def unpack(packed):
    """Two codes per byte, the first in the low bits."""
    return np.stack([packed & 15, packed >> 4], axis=-1).reshape(*packed.shape[:-1], -1)


def by_gfloat():
    if not (gfloat and safetensors and torch):
        TALLY.skip("gfloat")
        return
    from gfloat import BlockFormatInfo, RoundMode
    from gfloat.formats import format_info_ocp_e2m1, format_info_ocp_e4m3, format_info_ocp_e8m0
    from gfloat import decode_float, encode_float, round_float
    x = (RANDOM.standard_normal((24, 96)) * np.exp(RANDOM.standard_normal((24, 1)) * 4)).astype(np.float32)
    x[0, :40] = 0
    safetensors.numpy.save_file({"w": x}, "in.safetensors")
    for dtype, length in (("mxfp4", 32), ("nvfp4", 16)):
        quant("in.safetensors", dtype, "-o", "out.safetensors", "--layout", "modelopt")
        parts = {name: value for name, value in tensors_of("out.safetensors").items()}
        codes = unpack(parts["w"].numpy())
        scales = parts["w_scale"].view(torch.uint8).numpy()
        tensor = np.float32(1)
        if dtype == "nvfp4":
            tensor = np.abs(x).max() / np.float32(2688)
            same("nvfp4: tensor scale", parts["w_scale_2"].numpy().reshape(()), tensor)
        info = BlockFormatInfo(dtype, format_info_ocp_e2m1, length,
                               format_info_ocp_e8m0 if dtype == "mxfp4" else format_info_ocp_e4m3)
        want_scales, want_codes = np.empty_like(scales), np.empty_like(codes)
        for row in range(x.shape[0]):
            for block in range(x.shape[1] // length):
                part = x[row, block * length:(block + 1) * length]
                amax = np.abs(part).max()
                if dtype == "mxfp4":
                    exponent = int(np.floor(np.log2(np.float64(amax)))) - info.etype.emax if amax else -127
                    scale = 2.0 ** max(exponent, -127)
                    of_block = np.float32(scale)
                else:
                    scale = round_float(format_info_ocp_e4m3, float(amax / np.float32(6) / tensor),
                                        RoundMode.TiesToEven, sat=True)
                    of_block = np.float32(scale) * tensor
                want_scales[row, block] = encode_float(info.stype, scale)
                for i, number in enumerate(part):
                    quotient = float(np.float32(number) / of_block) if of_block else 0.0
                    rounded = round_float(info.etype, quotient, RoundMode.TiesToEven, sat=True)
                    want_codes[row, block * length + i] = encode_float(info.etype, rounded)
        same(dtype + " by gfloat: scales", scales, want_scales)
        same(dtype + " by gfloat: codes", codes, want_codes)
        decoded = [[decode_float(info.etype, int(code)).fval for code in line] for line in codes[:4]]
        TALLY.check(dtype + " by gfloat: finite numbers", np.isfinite(decoded).all(), True)
    TALLY.part("gfloat")


def by_compressed_tensors():
    if not (compressed and torch and safetensors):
        TALLY.skip("compressed-tensors")
        return
    from compressed_tensors.compressors import BaseCompressor
    from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
    x = RANDOM.standard_normal((40, 192), dtype=np.float32)
    safetensors.numpy.save_file({"layer.weight": x}, "in.safetensors")
    weight = torch.from_numpy(x)
    group = dict(strategy="group", group_size=32)
    channel, whole = dict(strategy="channel"), dict(strategy="tensor")
    cases = [
        ("int8", "naive-quantized", dict(num_bits=8, type="int", **whole), []),
        ("int8", "naive-quantized", dict(num_bits=8, type="int", **channel), ["--per", "channel"]),
        ("int8", "naive-quantized", dict(num_bits=8, type="int", symmetric=False, **channel),
         ["--per", "channel", "--affine"]),
        ("fp8_e4m3fn", "naive-quantized", dict(num_bits=8, type="float", **whole), []),
        ("fp8_e4m3fn", "naive-quantized", dict(num_bits=8, type="float", **channel), ["--per", "channel"]),
        ("int4", "pack-quantized", dict(num_bits=4, type="int", **group), ["--block", "32"]),
        ("int4", "pack-quantized", dict(num_bits=4, type="int", **channel), ["--per", "channel"]),
        ("int4", "pack-quantized", dict(num_bits=4, type="int", symmetric=False, **group),
         ["--block", "32", "--affine"]),
        ("uint4", "pack-quantized", dict(num_bits=4, type="int", symmetric=False, **group), ["--block", "32"]),
        ("int2", "pack-quantized", dict(num_bits=2, type="int", **group), ["--block", "32"]),
        ("mxfp4", "mxfp4-pack-quantized", dict(num_bits=4, type="float", **group), []),
        ("mxfp8_e4m3", "mxfp8-quantized", dict(num_bits=8, type="float", **group), []),
        ("mxfp6_e2m3", "mxfp6-pack-quantized", dict(num_bits=6, type="float", **group), []),
        ("nvfp4", "nvfp4-pack-quantized",
         dict(num_bits=4, type="float", strategy="tensor_group", group_size=16), []),
    ]
    for dtype, name, arguments, words in cases:
        what = "%s as %s %s" % (dtype, name, arguments["strategy"])
        quant("in.safetensors", dtype, "-o", "out.safetensors", *words)
        ours = {key.removeprefix("layer."): value for key, value in tensors_of("out.safetensors").items()}
        try:
            compressor = BaseCompressor.get_value_from_registry(name)
            scheme = QuantizationScheme(targets=["Linear"], weights=QuantizationArgs(**arguments))
            names = set(compressor.compression_param_names(scheme))
            read = compressor.decompress(dict(ours), scheme)["weight"].float().numpy()
        except (KeyError, ValueError, AttributeError, ImportError) as error:
            TALLY.skip("%s: %s: %s" % (what, type(error).__name__, str(error)[:100]))
            continue
        if name != "naive-quantized":
            TALLY.check(what + ": names", set(ours), names | {"weight_zero_point"} & set(ours))
        TALLY.check(what + ": shape that it reads", read.shape, x.shape)
        # the error of what it reads equals the reported one; some of it computes in bf16
        done = subprocess.run([PROGRAM, "quant", "in.safetensors", dtype, "-o", "out.safetensors", *words, "--force",
                               "--json"], stdout=subprocess.PIPE, check=True)
        loss, error = json.loads(done.stdout)["totals"]["loss"], np.abs(np.float64(read) - x)
        for figure, theirs in (("max_absolute_error", error.max()), ("mean_absolute_error", error.mean())):
            reported = loss[figure]["value"]
            TALLY.check("%s: %s" % (what, figure), abs(theirs - reported) <= 0.01 * reported, True)
        if arguments["type"] == "float" and arguments["num_bits"] < 8 or dtype.startswith("mx"):
            continue
        # with our scales it writes the same bytes
        scale = ours["weight_scale"]
        state = {"weight": weight, "weight_scale": scale.float()}
        if "weight_zero_point" in ours and name == "naive-quantized":
            state["weight_zero_point"] = ours["weight_zero_point"]
        if "weight_zero_point" in ours and name == "pack-quantized":
            from compressed_tensors.compressors.pack_quantized.helpers import unpack_from_int32
            state["weight_zero_point"] = unpack_from_int32(ours["weight_zero_point"], arguments["num_bits"],
                                                           torch.Size(scale.shape), packed_dim=0)
        written = compressor.compress(state, scheme)
        for part in ("weight", "weight_packed", "weight_shape", "weight_zero_point"):
            if part in written and part in ours:
                one, other = ours[part], written[part]
                if one.dtype.is_floating_point:
                    one, other = one.view(torch.uint8), other.view(torch.uint8)
                same(what + ": " + part, one.numpy(), other.numpy())
    TALLY.part("compressed-tensors")


with tempfile.TemporaryDirectory(prefix="dtinfo-quant-") as folder:
    os.chdir(folder)
    lesson()
    by_onnx()
    by_gfloat()
    by_compressed_tensors()
    os.chdir("/")
TALLY.finish()
