#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The last bit of dequantized numbers, layout by layout: each row of tests/data/roundings.tsv is checked against the
program that it names, if installed, or against a model of its source if the row says that it was read; the manual must
have the same rows. All scale codes and odd factors are tried, since the rows differ in the order of products.

usage: test_roundings.py DTINFO
"""
import itertools
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

from harness import Tally, have

if not have("numpy"):
    print("skipped: needs numpy")
    sys.exit(77)
import numpy as np


PROGRAM, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(__file__).resolve().parents[3]
TALLY, RANDOM, F32 = Tally(), np.random.default_rng(29), np.float32
E2M1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6], F32)
E4M3 = np.array([(c & 7) * 2.0 ** -9 if c < 8 else (8 + (c & 7)) * 2.0 ** ((c >> 3) - 10) for c in range(127)], F32)
WHOLES = [F32(x) for x in (0.001, 0.0371, 1.7, 27000, 1 / 3, 0.25)]
KINDS = {"float32": "F32", "float16": "F16", "uint8": "U8", "int8": "I8", "int32": "I32", "uint32": "U32", "int64": "I64"}
os.environ["TORCHDYNAMO_DISABLE"] = "1"


class Missing(Exception):
    """A program is not installed."""


def need(name):
    module = have(name)
    if not module:
        raise Missing(name)
    return module


def dequantized(tensors, config=None, dtype="fp32", words=()):
    """The numbers of the only quantized tensor; parts are arrays, or (dtype, array of its bits)."""
    header, data = {}, b""
    for name, part in tensors.items():
        kind, array = part if isinstance(part, tuple) else (KINDS[part.dtype.name], part)
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path("in.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    pathlib.Path("config.json").write_text(json.dumps({"quantization_config": config} if config else {}))
    return read("in.safetensors", dtype, words)


def read(path, dtype="fp32", words=()):
    done = subprocess.run([PROGRAM, "quant", path, dtype, "--dequant", "-o", "out.safetensors", "--force", "-q", *words],
                          capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit("dequantizing: " + done.stderr.decode())
    raw = pathlib.Path("out.safetensors").read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + size])
    header.pop("__metadata__", None)
    first, last = next(iter(header.values()))["data_offsets"]
    part = raw[8 + size + first:8 + size + last]
    if dtype == "bf16":
        return (np.frombuffer(part, np.uint16).astype(np.uint32) << 16).view(F32)
    return np.frombuffer(part, np.float16 if dtype == "fp16" else F32).astype(F32)


def equal(what, got, want):
    got, want = np.asarray(got, F32).reshape(-1), np.asarray(want, F32).reshape(-1)
    TALLY.checked += want.size
    different = int((got.view(np.uint32) != want.view(np.uint32)).sum()) if got.size == want.size else -1
    if different:
        TALLY.differ(what, "%d of %d bits patterns are others" % (different, want.size), "the same")


def packed(codes):
    return (codes[..., 0::2] | codes[..., 1::2] << 4).astype(np.uint8)


def words_of(codes, bits):
    """Little-endian words along the last axis; the code width divides 32."""
    each = codes.reshape(*codes.shape[:-1], -1, 32 // bits).astype(np.uint64) << np.arange(0, 32, bits, dtype=np.uint64)
    return np.bitwise_or.reduce(each, -1).astype(np.uint32).view(np.int32)


def nvfp4():
    """Each scale with each code: codes [127, 16], scales [127, 1]."""
    return np.tile(np.arange(16), (127, 1)), np.arange(127, dtype=np.uint8).reshape(-1, 1)


NVFP4 = {"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized", "config_groups": {"g": {
    "targets": ["Linear"], "weights": {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16}}}}


def compressed(whole, words=()):
    codes, scales = nvfp4()
    return dequantized({"m.weight_packed": packed(codes), "m.weight_scale": ("F8_E4M3", scales),
                        "m.weight_global_scale": np.array([whole], F32)}, NVFP4, words=words)


def compressed_nvfp4():
    torch = need("torch")
    need("compressed_tensors")
    from compressed_tensors.quantization import QuantizationArgs
    from compressed_tensors.quantization.lifecycle.forward import dequantize
    args = QuantizationArgs(num_bits=4, type="float", strategy="tensor_group", group_size=16)
    codes, scales = nvfp4()
    for whole in WHOLES:
        want = dequantize(torch.tensor(E2M1[codes]), torch.tensor(E4M3[scales]), args=args, dtype=torch.float32,
                          global_scale=torch.tensor([whole]))
        equal("compressed-tensors, %s" % whole, compressed(whole), want.numpy())


def vllm_nvfp4():
    codes, scales = nvfp4()
    others = 0
    for whole in WHOLES:
        want = (E4M3[scales] * (F32(1) / whole)) * E2M1[codes]
        equal("vLLM, %s" % whole, compressed(whole, ["--like", "vllm"]), want)
        others += int((want != (E4M3[scales] / whole) * E2M1[codes]).sum())
    TALLY.check("the two can be told apart", others > 500, True)


def modelopt(whole):
    codes, scales = nvfp4()
    return dequantized({"m.weight": packed(codes), "m.weight_scale": ("F8_E4M3", scales),
                        "m.weight_scale_2": np.array(whole, F32)}, {"quant_method": "modelopt", "quant_algo": "NVFP4",
                                                                    "group_size": 16})


def modelopt_nvfp4():
    codes, scales = nvfp4()
    for whole in WHOLES:
        equal("ModelOpt's formula, %s" % whole, modelopt(whole), (E4M3[scales] * whole) * E2M1[codes])
    torch = need("torch")
    need("modelopt.torch.quantization.qtensor.nvfp4_tensor")
    from modelopt.torch.quantization.qtensor.nvfp4_tensor import NVFP4QTensor
    for whole in WHOLES:
        tensor = NVFP4QTensor(codes.shape, torch.float32, torch.tensor(packed(codes)))
        want = tensor.dequantize(dtype=torch.float32, scale=torch.tensor(scales).view(torch.float8_e4m3fn),
                                 double_scale=torch.tensor(whole), block_sizes={-1: 16})
        equal("ModelOpt, %s" % whole, modelopt(whole) + F32(0), want.numpy() + F32(0))


def gpt_oss():
    torch = need("torch")
    need("transformers")
    from transformers.integrations import mxfp4
    codes = RANDOM.integers(0, 256, (2, 64, 4, 16)).astype(np.uint8)
    scales = RANDOM.integers(1, 253, (2, 64, 4)).astype(np.uint8)
    want = mxfp4._convert_moe_packed_tensors(torch.tensor(codes), torch.tensor(scales), dtype=torch.float32)
    got = dequantized({"x_blocks": codes, "x_scales": scales})
    want = want.numpy()
    equal("gpt-oss", got, want if got.size == want.size and np.array_equal(got, want.reshape(-1)) else want.transpose(0, 2, 1))


def compressed_integers():
    torch = need("torch")
    need("compressed_tensors")
    from compressed_tensors.quantization import QuantizationArgs
    from compressed_tensors.quantization.lifecycle.forward import dequantize
    codes, scale = RANDOM.integers(-128, 128, (16, 64)).astype(np.int8), RANDOM.uniform(0.01, 0.1, (16, 1)).astype(F32)
    zeros = RANDOM.integers(-128, 128, (16, 1)).astype(np.int8)
    weights = {"num_bits": 8, "type": "int", "strategy": "channel", "symmetric": False}
    config = {"quant_method": "compressed-tensors", "format": "int-quantized",
              "config_groups": {"g": {"targets": ["Linear"], "weights": weights}}}
    for kind, dtype in ((torch.float32, "fp32"), (torch.float16, "fp16"), (torch.bfloat16, "bf16")):
        s = torch.tensor(scale).to(kind)
        want = dequantize(torch.tensor(codes), s, torch.tensor(zeros), args=QuantizationArgs(**weights), dtype=kind)
        stored = s.numpy() if dtype != "bf16" else ("BF16", s.view(torch.int16).numpy())
        got = dequantized({"m.weight": codes, "m.weight_scale": stored, "m.weight_zero_point": zeros}, config, dtype)
        equal("integers of compressed-tensors, " + dtype, got, want.float().numpy())


def fp8():
    torch = need("torch")
    codes = np.delete(np.arange(256, dtype=np.uint8), [127, 255])[None].repeat(64, 0)
    scale = RANDOM.uniform(0.001, 3, (64, 1)).astype(F32)
    want = torch.tensor(codes).view(torch.float8_e4m3fn).float() * torch.tensor(scale)
    equal("fp8, channels", dequantized({"m.weight": ("F8_E4M3", codes), "m.weight_scale": scale}), want.numpy())
    rows = np.repeat(codes, 4, 0)
    scale = RANDOM.uniform(0.001, 3, (2, 2)).astype(F32)
    wide = np.repeat(np.repeat(scale, 128, 0), 128, 1)[:, :codes.shape[1]]
    want = torch.tensor(rows).view(torch.float8_e4m3fn).float() * torch.tensor(wide)
    equal("fp8, blocks", dequantized({"m.weight": ("F8_E4M3", rows), "m.weight_scale_inv": scale},
                                     {"quant_method": "fp8", "weight_block_size": [128, 128]}), want.numpy())


def gptq():
    """v1 stores z minus one, field by field modulo 16."""
    codes = np.tile(np.arange(16), 8).reshape(128, 1).repeat(16, 1)
    zeros, scale = np.arange(16).reshape(1, 16), RANDOM.uniform(0.001, 0.1, (1, 16)).astype(np.float16)
    parts = {"m.qweight": words_of(codes.T, 4).T, "m.qzeros": words_of(zeros, 4), "m.scales": scale}
    config = {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": False}
    numbers = codes - (zeros + 1) % 16
    equal("GPTQ, fp16", dequantized(parts, config, "fp16"), (numbers.astype(np.float16) * scale).T)
    equal("GPTQ, fp32", dequantized(parts, config), (numbers.astype(F32) * scale.astype(F32)).T)


def awq():
    codes = RANDOM.integers(0, 16, (128, 16))
    zeros, scale = np.arange(16).reshape(1, 16), RANDOM.uniform(0.001, 0.1, (1, 16)).astype(np.float16)
    order = [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15]
    parts = {"m.qweight": words_of(codes[:, order], 4), "m.qzeros": words_of(zeros[:, order], 4), "m.scales": scale}
    config = {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True, "version": "gemm"}
    equal("AWQ, fp16", dequantized(parts, config, "fp16"), ((codes - zeros).astype(np.float16) * scale).T)
    equal("AWQ, fp32", dequantized(parts, config), ((codes - zeros).astype(F32) * scale.astype(F32)).T)


def bitsandbytes_4():
    torch = need("torch")
    need("bitsandbytes")
    from bitsandbytes import functional
    torch.manual_seed(29)
    for kind, nested in itertools.product(("nf4", "fp4"), (False, True)):
        x = torch.randn(64, 256)
        codes, state = functional.quantize_4bit(x, blocksize=64, quant_type=kind, compress_statistics=nested)
        parts = {"m.weight." + k if k != "" else "m.weight": v.numpy() for k, v in state.as_dict(packed=True).items()}
        got = dequantized({"m.weight": codes.numpy(), **parts})
        want = functional.dequantize_4bit(codes, state).numpy()   # code 8 of fp4: 0 in its table, -0 in its CPU kernel
        equal("bitsandbytes %s %s" % (kind, nested), got + F32(0), want + F32(0))


def bitsandbytes_8():
    torch = need("torch")
    need("bitsandbytes")
    from bitsandbytes import functional
    torch.manual_seed(29)
    codes, scale, _ = functional.int8_vectorwise_quant((torch.randn(64, 256) * 3).half())
    equal("bitsandbytes int8", dequantized({"m.weight": codes.numpy(), "m.SCB": scale.numpy()}),
          functional.int8_vectorwise_dequant(codes, scale).numpy())


def of_mlx(array):
    mx = sys.modules["mlx.core"]
    if array.dtype in (mx.bfloat16, mx.float16):
        return ("BF16" if array.dtype == mx.bfloat16 else "F16"), np.array(array.view(mx.uint16))
    return np.array(array)


def mlx_affine():
    need("mlx.core")
    mx = sys.modules["mlx.core"]
    for dtype, bits in itertools.product((mx.float32, mx.float16, mx.bfloat16), (3, 4, 8)):
        weight = mx.array(RANDOM.normal(size=(32, 256)).astype(F32)).astype(dtype)
        q, s, b = mx.quantize(weight, 64, bits)
        got = dequantized({"m.weight": of_mlx(q), "m.scales": of_mlx(s), "m.biases": of_mlx(b)},
                          words=["--bits", str(bits), "--block", "64"])
        equal("MLX %s %d" % (dtype, bits), got, np.array(mx.dequantize(q, s, b, 64, bits).astype(mx.float32)))


def mlx_nvfp4():
    need("mlx.core")
    mx = sys.modules["mlx.core"]
    for largest in (0.2183, 3.7, 1.0):
        weight = mx.array((RANDOM.normal(size=(64, 256)) * 0.05).astype(F32))
        own = {"global_scale": mx.array(F32(largest))}
        q, s = mx.quantize(weight, 16, 4, mode="nvfp4", **own)
        got = dequantized({"m.weight": of_mlx(q), "m.scales": of_mlx(s), "m.global_scale": np.array(largest, F32)})
        equal("MLX nvfp4 %s" % largest, got, np.array(
            mx.dequantize(q, s, None, 16, 4, mode="nvfp4", dtype=mx.float32, **own)))


def torchao_integers():
    torch = need("torch")
    need("torchao")
    from torchao.quantization import IntxUnpackedToInt8Tensor, MappingType
    torch.manual_seed(29)
    for was, dtype in ((torch.float32, "fp32"), (torch.bfloat16, "bf16")):
        tensor = IntxUnpackedToInt8Tensor.from_hp(torch.randn(64, 256).to(was), (1, 32), torch.int8,
                                                  mapping_type=MappingType.ASYMMETRIC)
        scale = tensor.scale.numpy() if dtype == "fp32" else ("BF16", tensor.scale.view(torch.int16).numpy())
        got = dequantized({"m.weight": tensor.qdata.numpy(), "m.weight_scale": scale,
                           "m.weight_zero_point": tensor.zero_point.to(torch.int8).numpy()}, dtype=dtype)
        equal("torchao, " + dtype, got, tensor.dequantize().float().numpy())


def onnx_linear():
    onnx = need("onnx")
    from onnx.reference import ReferenceEvaluator
    codes, zeros = RANDOM.integers(0, 256, (64, 32)).astype(np.uint8), RANDOM.integers(0, 256, 64).astype(np.uint8)
    for kind, dtype in ((F32, "fp32"), (np.float16, "fp16")):
        scale = RANDOM.uniform(0.001, 0.1, 64).astype(kind)
        inits = [onnx.numpy_helper.from_array(a, n) for a, n in ((codes, "w"), (scale, "w_scale"), (zeros, "w_zero"))]
        out = onnx.helper.make_tensor_value_info("y", onnx.helper.np_dtype_to_tensor_dtype(np.dtype(kind)), [64, 32])
        node = onnx.helper.make_node("DequantizeLinear", ["w", "w_scale", "w_zero"], ["y"], axis=0)
        model = onnx.helper.make_model(onnx.helper.make_graph([node], "g", [], [out], inits),
                                       opset_imports=[onnx.helper.make_opsetid("", 21)])
        onnx.save(model, "in.onnx")
        equal("ONNX, " + dtype, read("in.onnx", dtype), ReferenceEvaluator(model).run(None, {})[0].astype(F32))


def gguf_types():
    gguf = need("gguf")
    kinds = gguf.GGMLQuantizationType
    for kind in (kinds.Q4_0, kinds.Q4_1, kinds.Q5_0, kinds.Q8_0, kinds.Q4_K, kinds.Q6_K, kinds.IQ4_XS):
        x = RANDOM.normal(size=(8, 1024)).astype(F32)
        length, size = gguf.GGML_QUANT_SIZES[kind]
        try:
            raw = gguf.quants.quantize(x, kind)
        except NotImplementedError:
            raw = RANDOM.integers(0, 256, (8, 1024 // length, size)).astype(np.uint8)
            raw[..., [1, 3] if kind == kinds.Q4_K else [1]] &= 0x3b   # keep the scales finite
            raw[..., -1] &= 0x3b
            raw = raw.reshape(8, -1)
        writer = gguf.GGUFWriter("in.gguf", "llama")
        writer.add_tensor("blk.0.attn_q.weight", raw, raw_dtype=kind)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        equal("GGUF %s" % kind.name, read("in.gguf"), gguf.quants.dequantize(raw, kind))


def bitnet():
    fields = RANDOM.integers(0, 3, (4, 2, 32)).astype(np.uint8)
    raw = (fields[0] | fields[1] << 2 | fields[2] << 4 | fields[3] << 6).astype(np.uint8)
    numbers = fields.reshape(8, 32).astype(F32) - F32(1)
    for scale in (F32(0.3), F32(1.7)):
        for form in ("bitlinear", "autobitlinear"):
            got = dequantized({"m.weight": raw, "m.weight_scale": np.array([scale])},
                              {"quant_method": "bitnet", "linear_class": form})
            want = numbers / scale if form == "bitlinear" else numbers * scale
            equal("BitNet, " + form, got + F32(0), want + F32(0))


def convrot():
    block = np.array([[1, 1, 1, -1], [1, 1, -1, 1], [1, -1, 1, 1], [-1, 1, 1, 1]], np.int64)
    codes = RANDOM.integers(-128, 128, (8, 64)).astype(np.int8)
    for group, hadamard in ((16, np.kron(block, block)), (64, np.kron(np.kron(block, block), block))):
        said = {"format": "int8_tensorwise", "convrot": True, "convrot_groupsize": group}
        for scale in WHOLES:
            got = dequantized({"m.weight": codes, "m.weight_scale": np.array(scale),
                               "m.comfy_quant": np.frombuffer(json.dumps(said).encode(), np.uint8)})
            sums = codes.astype(np.int64).reshape(8, -1, group) @ hadamard
            equal("convrot %d" % group, got, (sums.reshape(8, 64) / group ** .5 * np.float64(scale)).astype(F32))


def rows():
    lines = (ROOT / "tests/data/roundings.tsv").read_text().splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def main():
    page = (ROOT / "man/dtinfo-dtypes.7.scd").read_text()
    section = page[page.index("# ROUNDING OF LAYOUTS"):page.index("# EXAMPLES")]
    told = [list(row) for row in re.findall(r"^\*(.+)\*\n\t(.+) \(([^()]+)\)$", section, re.MULTILINE)]
    wanted = []
    for layout, numbers, program, version, judge in rows():
        name, _, how = program.partition(", ")
        wanted.append([layout, numbers, "%s %s%s" % (name, version, ", " + how if how else "")])
        before = TALLY.checked
        try:
            globals()[judge]()
        except Missing as missing:
            TALLY.skip("%s: %s is not installed" % (layout, missing))
        TALLY.part("%s, %s" % (layout, TALLY.checked - before))
    TALLY.check("the rows of the manual", told, wanted)
    TALLY.finish()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as here:
        os.chdir(here)
        main()
