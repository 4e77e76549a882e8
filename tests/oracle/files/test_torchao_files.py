# SPDX-License-Identifier: MIT
"""Files of torchao's tensors: against a numpy model of the layout, with random codes, scales and shapes, and against
torchao itself, if installed: its dequantize() of the tensors that it flattened.

usage: test_torchao_files.py DTINFO
"""
import json
import os
import sys
import tempfile
import warnings

from harness import Tally, have

PROGRAM = os.path.abspath(sys.argv[1])
if not have("numpy"):
    print("skipped: needs numpy")
    sys.exit(77)
import numpy as np
from layout_files import E2M1, E4M3, E5M2, Reader, tiles

warnings.simplefilter("ignore")
RANDOM = np.random.default_rng(20261124)
F32 = np.float32
TALLY = Tally()
READER = Reader(PROGRAM, TALLY)


def dtype(name):
    return {"_type": "torch.dtype", "_data": name}


def told(kind, data, name="m.weight"):
    return {"tensor_names": json.dumps([name]), name: json.dumps({"_type": kind, "_data": data, "_tensor_data_names": []})}


def spread(scale, block):
    for axis, side in enumerate(block):
        scale = np.repeat(scale, side, axis=axis)
    return scale


def uniform(*shape):
    return RANDOM.uniform(0.01, 3, shape).astype(F32)


BLOCKS = (((1, 1), (1, 1)), ((5, 7), (5, 7)), ((5, 7), (1, 7)), ((5, 7), (5, 1)), ((6, 96), (1, 32)), ((6, 96), (1, 48)),
          ((6, 96), (2, 32)), ((6, 96), (3, 96)), ((6, 96), (2, 1)), ((256, 384), (128, 128)), ((4, 6, 64), (1, 1, 32)),
          ((4, 6, 64), (1, 1, 64)), ((4, 6, 64), (4, 6, 64)), ((4, 6, 64), (1, 2, 32)), ((2, 40000), (1, 8)))


def plain():
    for shape, block in BLOCKS:
        count = tuple(n // b for n, b in zip(shape, block))
        scale, zero = uniform(*count), RANDOM.integers(-128, 128, count).astype(np.int8)
        codes = RANDOM.integers(-128, 128, shape).astype(np.int8)
        what = "%s in blocks of %s" % (shape, block)
        want = (codes.astype(F32) - spread(zero, block).astype(F32)) * spread(scale, block)
        parts = {"m._weight_qdata": codes, "m._weight_scale": scale, "m._weight_zero_point": zero}
        READER.read(parts, {"m.weight": want}, told("Int8Tensor", {"block_size": block, "dtype": dtype("bfloat16")}),
                    what="Int8Tensor, " + what)
        parts["m._weight_act_quant_scale"] = uniform(1)
        READER.read(parts, {"m.weight": want, "m._weight_act_quant_scale": parts["m._weight_act_quant_scale"]},
                    told("IntxUnpackedToInt8Tensor", {"block_size": block, "target_dtype": dtype("int4")}), what="Intx, " + what)
        form = READER.forms()["m.weight"]
        TALLY.check(what + ": form", (form["layout"], form["format"], form["zero_points"]), ("torchao", "int4", True))
        for name, table in (("F8_E4M3", E4M3), ("F8_E5M2", E5M2)):
            raw = RANDOM.integers(0, 256, shape).astype(np.uint8)
            raw[~np.isfinite(table[raw])] = 0
            READER.read({"m._weight_qdata": (name, raw), "m._weight_scale": scale},
                        {"m.weight": table[raw] * spread(scale, block)}, told("Float8Tensor", {"block_size": block}),
                        what="Float8Tensor, " + what)


def power(codes):
    return np.where(codes == 255, F32(np.nan), np.ldexp(F32(1), codes.astype(int) - 127))


def blocks():
    for shape in ((1, 32), (7, 96), (128, 128), (130, 160), (256, 4096), (3, 50, 64)):
        rows, columns = int(np.prod(shape[:-1])), shape[-1]
        for swizzled in (False, True):
            def scales(kind, codes):
                codes = codes.reshape(rows, -1)
                return kind, tiles(codes) if swizzled else codes.reshape(shape[:-1] + (-1,))
            scale = RANDOM.integers(60, 190, shape[:-1] + (columns // 32,)).astype(np.uint8)
            scale.reshape(-1)[0] = 255
            number = np.repeat(power(scale), 32, -1)
            number[np.isnan(number)] = np.nan
            for name, kind, table in (("F8_E4M3", "float8_e4m3fn", E4M3), ("F8_E5M2", "float8_e5m2", E5M2)):
                raw = RANDOM.integers(0, 256, shape).astype(np.uint8)
                raw[~np.isfinite(table[raw])] = 0
                READER.read({"m._weight_qdata": (name, raw), "m._weight_scale": scales("F8_E8M0", scale)},
                            {"m.weight": table[raw] * number},
                            told("MXTensor", {"elem_dtype": dtype(kind), "block_size": 32, "is_swizzled_scales": swizzled}),
                            what="MXTensor %s %s, tiles %s" % (kind, shape, swizzled))
            packed = RANDOM.integers(0, 256, shape[:-1] + (columns // 2,)).astype(np.uint8)
            codes = np.stack([packed & 15, packed >> 4], -1).reshape(shape)
            READER.read({"m._weight_qdata": packed, "m._weight_scale": scales("F8_E8M0", scale)},
                        {"m.weight": E2M1[codes] * number},
                        told("MXTensor", {"elem_dtype": dtype("float4_e2m1fn_x2"), "block_size": 32,
                                          "is_swizzled_scales": swizzled}), what="MXTensor fp4 %s" % (shape,))
            scale = RANDOM.integers(0, 0x7f, shape[:-1] + (columns // 16,)).astype(np.uint8)
            for whole in (None, np.array(0.0123, F32)):
                parts = {"m._weight_qdata": packed, "m._weight_scale": scales("F8_E4M3", scale),
                         "m._weight_act_per_tensor_scale": np.array(2, F32)}
                number = E4M3[scale] if whole is None else E4M3[scale] * whole
                if whole is not None:
                    parts["m._weight_per_tensor_scale"] = whole
                READER.read(parts, {"m.weight": np.repeat(number, 16, -1) * E2M1[codes],
                                    "m._weight_act_per_tensor_scale": np.array(2, F32)},
                            told("NVFP4Tensor", {"block_size": 16, "is_swizzled_scales": swizzled}),
                            what="NVFP4Tensor %s, tiles %s" % (shape, swizzled))


def refused():
    codes, scale = RANDOM.integers(-8, 8, (128, 64)).astype(np.int8), uniform(128, 2)
    parts = {"m._weight_qdata": codes, "m._weight_scale": scale}

    def refuse(words, kind="Int8Tensor", data=None, **changed):
        tensors = dict(parts, **{"m._weight_" + k: v for k, v in changed.items()})
        READER.refuse({k: v for k, v in tensors.items() if v is not None}, words,
                      told(kind, {"block_size": [1, 32]} if data is None else data), what=words)
    for kind in ("Int4Tensor", "Int4TilePackedTo4dTensor", "Int4PlainInt32Tensor", "Tensor", "", "x" * 300):
        refuse("which is not supported", kind)
    refuse("does not have codes of int8", "Float8Tensor")
    refuse("does not have codes of fp8_e4m3fn", qdata=("F8_E4M3", codes.view(np.uint8)))
    refuse("of 'float6_e2m3', which is not supported", "MXTensor", {"elem_dtype": dtype("float6_e2m3"), "block_size": 32})
    for block in ([1, 64], [1, 16], [1, 33], [128, 64], [1], [1, 1, 32], []):
        refuse("block_size", data={"block_size": block})
    refuse("block_size has 0 dimensions", data={})
    for block in ([0, 32], [-1, 32], "x", [1, "32"], [[1]], [1, 1.5], [1] * 17, {}):
        refuse("not as torchao writes it", data={"block_size": block})
    refuse("_weight_scale', which is missing", scale=None)
    refuse("zero point", zero_point=np.zeros((128, 1), np.int8))
    refuse("zero point", zero_point=np.zeros((128, 2), F32))
    refuse("multiplies what its layer gets", act_pre_scale=np.ones(64, F32))
    fp4 = {"qdata": RANDOM.integers(0, 256, (128, 32)).astype(np.uint8), "scale": ("F8_E4M3", np.zeros((128, 4), np.uint8))}
    refuse("block_size is not 16", "NVFP4Tensor", {"block_size": 32}, **fp4)
    refuse("block_size is not 32", "MXTensor", {"elem_dtype": dtype("float4_e2m1fn_x2"), "block_size": 16}, **fp4)
    refuse("expected scales of fp8_e8m0", "MXTensor",
           {"elem_dtype": dtype("float4_e2m1fn_x2"), "block_size": 32, "is_swizzled_scales": True},
           qdata=fp4["qdata"], scale=("F8_E4M3", np.zeros((128, 4), np.uint8)))
    refuse("finite number above 0", "NVFP4Tensor", {"block_size": 16}, per_tensor_scale=np.array(-1, F32), **fp4)
    refuse("one scale for the whole tensor", "NVFP4Tensor", {"block_size": 16}, per_tensor_scale=np.ones(2, F32), **fp4)
    READER.refuse(parts, "no entry 'm.weight'", {"tensor_names": "[]"}, what="no entry")
    for bad in ("", "{", "[]", '{"_type": "Int8Tensor"} 1', '{"_type": "Int8Tensor", "_data": {"block_size": [1, 32]'):
        READER.refuse(parts, "not as torchao writes it", {"m.weight": bad}, what="entry %s" % bad)
    READER.refuse(dict(parts, **{"m.weight": codes}), "which is what it becomes", told("Int8Tensor", {"block_size": [1, 32]}),
                  what="taken")


def flattened():
    torch = have("torch")
    if not (torch and have("torchao")):
        return TALLY.skip("torchao itself")
    from torchao.prototype.mx_formats.mx_tensor import MXTensor
    from torchao.prototype.mx_formats.nvfp4_tensor import NVFP4Tensor
    from torchao.prototype.safetensors.safetensors_support import flatten_tensor_state_dict
    from torchao.quantization import Float8Tensor, Int8Tensor, IntxUnpackedToInt8Tensor, MappingType, granularity
    torch.manual_seed(5)
    per = (granularity.PerTensor(), granularity.PerRow(), granularity.PerGroup(32))
    views = {torch.float8_e4m3fn: "F8_E4M3", torch.float8_e5m2: "F8_E5M2", torch.float8_e8m0fnu: "F8_E8M0",
             torch.bfloat16: "BF16"}
    made = {}
    for shape in ((3, 64), (130, 256), (128, 64)):
        for was in (torch.float32, torch.bfloat16):
            x = (torch.randn(shape) * 2).to(was)
            for number, each in enumerate(per):
                made["i%d" % number] = Int8Tensor.from_hp(x, granularity=each)
                if number < 2:
                    made["f%d" % number] = Float8Tensor.from_hp(x, granularity=each)
            made["fb"] = Float8Tensor.from_hp(x, granularity=granularity.PerBlock([1, 32]))
            for bits in (2, 3, 4, 8):
                made["x%d" % bits] = IntxUnpackedToInt8Tensor.from_hp(x, (1, 32), getattr(torch, "int%d" % bits),
                                                                      mapping_type=MappingType.ASYMMETRIC)
            for swizzled in (False, True):
                for kind in (torch.float8_e4m3fn, torch.float8_e5m2, torch.float4_e2m1fn_x2):
                    made["m%s%s" % (kind, swizzled)] = MXTensor.to_mx(x, kind, 32, is_swizzled_scales=swizzled)
                for whole in (None, torch.tensor(0.01)):
                    made["n%s%s" % (whole, swizzled)] = NVFP4Tensor.to_nvfp4(x, per_tensor_scale=whole,
                                                                            is_swizzled_scales=swizzled)
            for name, tensor in made.items():
                flat, metadata = flatten_tensor_state_dict({"m.weight": tensor, "m.bias": torch.ones(2)})
                parts = {k: ((views[v.dtype], v.view(torch.uint8).numpy()) if v.dtype in views else v.numpy())
                         for k, v in flat.items()}
                parts = {k: (v[0], v[1].view(np.uint16)) if isinstance(v, tuple) and v[0] == "BF16" else v
                         for k, v in parts.items()}
                want = tensor.dequantize()
                bits = want.view(torch.int16).numpy().view(np.uint16) if was == torch.bfloat16 else want.numpy()
                ones = torch.ones(2).to(was)
                READER.read(parts, {"m.weight": bits, "m.bias": ones.view(torch.int16).numpy().view(np.uint16)
                                    if was == torch.bfloat16 else ones.numpy()}, metadata,
                            dtype="bf16" if was == torch.bfloat16 else "fp32", what="its %s %s %s" % (name, shape, was))
                TALLY.check("was", READER.forms()["m.weight"]["was"], {torch.float32: "fp32", torch.bfloat16: "bf16"}[was])
                left = READER.run("inspect", "case/out.safetensors", "--json").stdout
                TALLY.check("metadata", json.loads(left)["files"][0].get("metadata"), [])


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for section in (plain, blocks, refused, flattened):
        section()
        TALLY.part(section.__name__)
TALLY.finish()
