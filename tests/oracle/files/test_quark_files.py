# SPDX-License-Identifier: MIT
"""AMD Quark's files: against a numpy model of the layout, and against Quark's own pack, unpack and dequantize
functions, if installed.

usage: test_quark_files.py DTINFO
"""
import ast
import importlib.util
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
from layout_files import E2M1, E4M3, Reader

warnings.simplefilter("ignore")
RANDOM = np.random.default_rng(20261126)
F32 = np.float32
TALLY = Tally()
READER = Reader(PROGRAM, TALLY)
ORDERS = {"order": (0, 1, 2, 3, 4, 5, 6, 7), "reorder": (0, 2, 4, 6, 1, 3, 5, 7)}


def config(dtype, scheme, group=None, packing="reorder", layers=None, **more):
    return {"quantization_config": dict({
        "quant_method": "quark", "global_quant_config": {"weight": {"dtype": dtype, "qscheme": scheme, "group_size": group,
                                                                    "ch_axis": 1, "symmetric": True}, "input_tensors": None},
        "layer_quant_config": layers or {}, "layer_type_quant_config": {}, "exclude": ["lm_head"],
        "export": {"kv_cache_group": [], "pack_method": packing}}, **more)}


def words(codes, packing):
    """Packs eight of the last dimension into a word: field i, from the lowest bits, is column order[i]."""
    eight = (codes & 15).reshape(codes.shape[:-1] + (-1, 8))[..., ORDERS[packing]].astype(np.uint64)
    return (eight << np.arange(0, 32, 4, dtype=np.uint64)).sum(-1).astype(np.uint32).view(np.int32)


def uniform(*shape):
    return RANDOM.uniform(0.01, 3, shape).astype(F32)


GROUPS = ((8, 8, 8), (16, 96, 32), (264, 128, 64), (40, 4096, 128), (8, 20000, 16))      # N, K, group


def four_bits():
    for dtype, low in (("int4", -8), ("uint4", 0)):
        for packing in ORDERS:
            for rows, columns, group in GROUPS:
                codes = RANDOM.integers(low, low + 16, (rows, columns))
                zero = RANDOM.integers(low, low + 16, (rows, columns // group))
                scale = uniform(rows, columns // group)
                want = (codes - np.repeat(zero, group, 1)).astype(F32) * np.repeat(scale, group, 1)
                what = "%s %s %d x %d" % (dtype, packing, rows, columns)
                parts = {"m.weight": words(codes.T, packing), "m.weight_scale": scale.T.copy(),
                         "m.weight_zero_point": words(zero.T, packing), "m.input_scale": np.ones((), F32)}
                kept = {"m.input_scale": np.ones((), F32)}
                READER.read(parts, dict(kept, **{"m.weight": want}), config=config(dtype, "per_group", group, packing),
                            what=what + " per group")
                form = READER.forms()["m.weight"]
                TALLY.check(what, (form["layout"], form["format"], form["group"]), ("quark", dtype, group))
                # per channel and per tensor: unpermuted, packed along rows
                zero, scale = zero[:, 0], scale[:, 0].copy()
                parts = {"m.weight": words(codes, packing), "m.weight_scale": scale, "m.weight_zero_point": words(zero, packing)}
                READER.read(parts, {"m.weight": (codes - zero[:, None]).astype(F32) * scale[:, None]},
                            config=config(dtype, "per_channel", None, packing), what=what + " per channel")
                parts = {"m.weight": words(codes, packing), "m.weight_scale": scale[0],
                         "m.weight_zero_point": np.array(zero[0], np.int32)}
                parts["m.weight_scale"] = np.array(scale[0])
                READER.read(parts, {"m.weight": (codes - zero[0]).astype(F32) * scale[0]},
                            config=config(dtype, "per_tensor", None, packing), what=what + " per tensor")
                if low:
                    del parts["m.weight_zero_point"]
                    READER.read(parts, {"m.weight": codes.astype(F32) * scale[0]},
                                config=config(dtype, "per_tensor", None, packing), what=what + " without zero points")


def eight_bits():
    for dtype, low in (("int8", -128), ("uint8", 0)):
        kind = getattr(np, dtype)
        for rows, columns, group in GROUPS:
            codes, zero = (RANDOM.integers(low, low + 256, shape) for shape in ((rows, columns), (rows, columns // group)))
            scale = uniform(rows, columns // group)
            want = (codes - np.repeat(zero, group, 1)).astype(F32) * np.repeat(scale, group, 1)
            what = "%s %d x %d" % (dtype, rows, columns)
            READER.read({"m.weight": codes.T.astype(kind), "m.weight_scale": scale.T.copy(),
                         "m.weight_zero_point": zero.T.astype(kind)}, {"m.weight": want},
                        config=config(dtype, "per_group", group), what=what + " per group")
            zero, scale = zero[:, 0], scale[:, 0].copy()
            READER.read({"m.weight": codes.astype(kind), "m.weight_scale": scale, "m.weight_zero_point": zero.astype(kind)},
                        {"m.weight": (codes - zero[:, None]).astype(F32) * scale[:, None]},
                        config=config(dtype, "per_channel"), what=what + " per channel")


def floats():
    """Floats named as in other layouts: Quark has no layout of its own for them."""
    for rows, columns in ((8, 32), (130, 256)):
        codes = RANDOM.integers(0, 256, (rows, columns)).astype(np.uint8)
        codes[codes & 0x7f == 0x7f] = 0
        for scale, scheme in ((uniform(1).reshape(()), "per_tensor"), (uniform(rows), "per_channel")):
            READER.read({"m.weight": ("F8_E4M3", codes), "m.weight_scale": scale},
                        {"m.weight": E4M3[codes] * scale.reshape(-1, 1)}, config=config("fp8_e4m3", scheme), what="fp8")
        packed = RANDOM.integers(0, 256, (rows, columns // 2)).astype(np.uint8)
        scale = RANDOM.integers(100, 140, (rows, columns // 32)).astype(np.uint8)
        READER.read({"m.weight": packed, "m.weight_scale": scale},
                    {"m.weight": E2M1[np.stack([packed & 15, packed >> 4], -1).reshape(rows, columns)] *
                     np.repeat(np.ldexp(F32(1), scale.astype(int) - 127), 32, 1)}, config=config("fp4", "per_group", 32),
                    what="mxfp4")


def refused():
    codes = RANDOM.integers(-8, 8, (16, 64))
    parts = {"m.weight": words(codes.T, "order"), "m.weight_scale": uniform(2, 16),
             "m.weight_zero_point": words(RANDOM.integers(-8, 8, (2, 16)), "order")}

    def refuse(text, *form, what=None, **changed):
        tensors = dict(parts, **{"m." + k: v for k, v in changed.items()})
        READER.refuse({k: v for k, v in tensors.items() if v is not None}, text, config=config(*(form or good)), what=text)
    good = ("int4", "per_group", 32, "order")
    for dtype in ("int3", "uint2", "fp4", "x" * 99):
        refuse("its dtype is '%s', which is not supported" % dtype[:31], dtype, "per_group", 32)
    refuse("dtype is int8, which is not stored as int32", "int8", "per_group", 32)
    refuse("pack_method is neither", "int4", "per_group", 32, "other")
    for form in (("int4", "per_group", 16, "order"), ("int4", "per_group", 0, "order"), ("int4", "per_group", None, "order"),
                 ("int4", "per_channel", None, "order"), ("int4", "per_tensor", None, "order"), ("int4", "per_x", 32, "order")):
        refuse("shapes of int4", *form)
    refuse("\\x1b[31m", "int4", "per\x1b[31m", 32, "order")
    READER.refuse(parts, "not an object", what="a layer's name", config=config(*good, layers={"\x1b[31m": 1}), logical=False)
    refuse("packed as the codes are", weight_zero_point=np.zeros((2, 16), np.int32))
    refuse("packed as the codes are", weight_zero_point=np.zeros((2, 2), np.int8))
    refuse("weight_zero_point', which is missing", "uint4", "per_group", 32, "order", weight_zero_point=None)
    refuse("shapes of int4", weight_scale=uniform(16, 2))
    refuse("weight_scale', which is missing", weight_scale=None)
    READER.refuse(parts, "layers with different weights", what="mixed", config=config(
        *good, layers={"*.m": {"weight": {"dtype": "uint4", "qscheme": "per_group", "group_size": 32}}}))
    READER.refuse(parts, "'several', which is not supported", what="list", config=config(
        *good, global_quant_config={"weight": [{"dtype": "fp4"}, {"dtype": "fp8_e4m3"}]}))
    same = {"*.x": {"weight": {"dtype": "int4", "qscheme": "per_group", "group_size": 32}}, "*.y": {"weight": None}}
    want = (codes - np.repeat(READ_ZERO(parts), 32, 1)).astype(F32) * np.repeat(parts["m.weight_scale"].T, 32, 1)
    READER.read(parts, {"m.weight": want}, config=config(*good, layers=same), what="layers alike")
    READER.read(parts, {"m.weight": want}, what="layers alone",
                config=config(*good, layers=same, global_quant_config={"weight": None}))


def READ_ZERO(parts):
    fields = parts["m.weight_zero_point"].view(np.uint32)[..., None] >> np.arange(0, 32, 4, dtype=np.uint32) & 15
    return ((fields.reshape(2, 16).astype(int) ^ 8) - 8).T


def functions(root, path, wanted, names):
    """Extracts some classes and functions from a file that imports a whole framework."""
    with open(os.path.join(root, path)) as file:
        tree = ast.parse(file.read())
    tree.body = [part for part in tree.body if getattr(part, "name", "") in wanted]
    exec(compile(tree, path, "exec"), names)
    return names


def itself():
    torch, found = have("torch"), None
    if torch:
        found = importlib.util.find_spec("quark")
    if not found:
        return TALLY.skip("Quark itself")
    root = os.path.join(list(found.submodule_search_locations)[0])
    names = {"torch": torch, "Tensor": torch.Tensor, "QTensorConfig": object}
    names = functions(root, "torch/utils/pack.py", ("PackMethod", "Pack_4_bits", "Pack_8_bits"), names)
    names = functions(root, "torch/kernel/hw_emulation/hw_emulation_interface.py",
                      ("dequantize_int_per_group_affine", "dequantize_int_per_channel_affine",
                       "_prepare_scale_for_group_dequant"), names)
    torch.manual_seed(7)
    for dtype, low, high in (("int4", -8, 8), ("uint4", 0, 16), ("int8", -128, 128), ("uint8", 0, 256)):
        for packing in ORDERS:
            for rows, columns, group in GROUPS[:4]:
                for scheme in ("per_group", "per_channel"):
                    own = names["Pack_%d_bits" % (4 if "4" in dtype else 8)](scheme, dtype)
                    count = (rows, columns // group) if scheme == "per_group" else (rows,)
                    codes = torch.randint(low, high, (rows, columns), dtype=torch.int32)
                    zero, scale = torch.randint(low, high, count, dtype=torch.int32), torch.rand(count)
                    if scheme == "per_group":
                        want = names["dequantize_int_per_group_affine"](codes, scale, zero, 1, group)
                    else:
                        want = names["dequantize_int_per_channel_affine"](codes, scale, zero, 0)
                    parts = {"m.weight": own.pack(codes, packing == "reorder"),
                             "m.weight_zero_point": own.pack(zero, packing == "reorder"),
                             "m.weight_scale": scale.t().contiguous() if scheme == "per_group" else scale}
                    READER.read({k: v.numpy() for k, v in parts.items()}, {"m.weight": want.numpy()},
                                config=config(dtype, scheme, group if scheme == "per_group" else None, packing),
                                what="its %s %s %s %d x %d" % (dtype, packing, scheme, rows, columns))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for section in (four_bits, eight_bits, floats, refused, itself):
        section()
        TALLY.part(section.__name__)
TALLY.finish()
