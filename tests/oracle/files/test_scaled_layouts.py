# SPDX-License-Identifier: MIT
"""Codes in rows with scales under layout-specific names, against a numpy model of each layout and, if installed, the
original tools: 8-bit bitsandbytes, ComfyUI's layers, and fbgemm_fp8.

usage: test_scaled_layouts.py DTINFO
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
from tensor_files import read_file

warnings.simplefilter("ignore")
RANDOM = np.random.default_rng(20261123)
F32 = np.float32
TALLY = Tally()
READER = Reader(PROGRAM, TALLY)
SHAPES = ((1, 1), (1, 5), (5, 1), (3, 33), (16, 64), (130, 257), (4, 20000))


def random_int8(shape):
    return RANDOM.integers(-128, 128, shape).astype(np.int8)


def bitsandbytes():
    """Two products, each rounded: the factor 1 / 127 is not folded into the scale."""
    factor = F32(0.007874015718698502)
    folded = 0
    for shape in SHAPES:
        codes, scale = random_int8(shape), RANDOM.uniform(0, 9, shape[0]).astype(F32)
        want = codes.astype(F32) * scale[:, None] * factor
        folded += int((want != codes.astype(F32) * (scale * factor)[:, None]).sum())
        parts = {"l.weight": codes, "l.SCB": scale}
        READER.read(parts, {"l.weight": want}, what="bitsandbytes %s" % (shape,))
        parts["l.weight_format"] = np.zeros((), np.uint8)
        READER.read(parts, {"l.weight": want}, what="bitsandbytes %s with its format" % (shape,))
        form = READER.forms()["l.weight"]
        TALLY.check("form", (form["layout"], form["format"], form["parts"]), ("bitsandbytes", "int8", 3))
    TALLY.check("numbers tell the two products from one", folded > 1000, True)
    codes, scale = random_int8((4, 8)), np.ones(4, F32)
    one = np.array(1, np.uint8)
    for number, name in ((1, "col32"), (2, "col_turing"), (3, "col_ampere"), (4, "unknown")):
        READER.refuse({"l.weight": codes, "l.SCB": scale, "l.weight_format": one * number}, name, what="format")
    READER.refuse({"l.weight": codes, "l.SCB": scale, "l.weight_format": np.zeros(2, np.uint8)}, "one U8", what="format")
    READER.refuse({"l.weight": codes, "l.weight_format": one}, "SCB', which is missing", what="no scale")
    for bad in (np.ones(3, F32), np.ones((4, 1), F32), np.ones(4, np.float16), np.ones((), F32), np.ones(8, F32)):
        READER.refuse({"l.weight": codes, "l.SCB": bad}, "a scale for each row", what="scales %s" % (bad.shape,))
    READER.refuse({"l.weight": codes.reshape(4, 4, 2), "l.SCB": scale}, "a scale for each row", what="rank 3")
    READER.read({"l.weight": codes[:0], "l.SCB": scale[:0]}, {"l.weight": np.zeros((0, 8), F32)}, what="no rows")


def bitsandbytes_itself():
    torch = have("torch")
    if not (torch and have("bitsandbytes")):
        return TALLY.skip("bitsandbytes itself")
    from bitsandbytes import functional
    torch.manual_seed(3)
    for shape in SHAPES:
        codes, scale, _ = functional.int8_vectorwise_quant((torch.randn(shape) * 3).half())
        READER.read({"l.weight": codes.numpy(), "l.SCB": scale.numpy()},
                    {"l.weight": functional.int8_vectorwise_dequant(codes, scale).numpy()}, what="its %s" % (shape,))


def finite(table, shape):
    codes = RANDOM.integers(0, 256, shape).astype(np.uint8)
    return np.where(np.isfinite(table[codes]), codes, 0).astype(np.uint8)


def text(form):
    return np.frombuffer(json.dumps(form).encode(), np.uint8)


FP8 = (("F8_E4M3", E4M3, "float8_e4m3fn"), ("F8_E5M2", E5M2, "float8_e5m2"))


def comfy_old():
    for (dtype, table, _), shape in ((f, s) for f in FP8 for s in SHAPES):
        codes = finite(table, shape)
        for scale in (np.array(0.0123, F32), np.array([3.5], F32), RANDOM.uniform(0, 2, (shape[0], 1)).astype(F32)):
            parts = {"p.l.weight": (dtype, codes), "p.l.scale_weight": scale, "p.l.scale_input": np.array(2, F32),
                     "p.scaled_fp8": (dtype, np.zeros(2, np.uint8)), "p.bf.weight": np.ones(3, F32),
                     "p.bf.scale_weight": np.array(1, F32)}
            want = {"p.l.weight": table[codes] * scale, "p.l.scale_input": np.array(2, F32),
                    "p.bf.weight": np.ones(3, F32), "p.bf.scale_weight": np.array(1, F32)}
            READER.read(parts, want, what="comfy, old %s" % (shape,))
    TALLY.check("form", READER.forms()["p.l.weight"]["layout"], "comfy")
    few = finite(E4M3, (1, 77))
    for marker in (("F8_E4M3", np.zeros(0, np.uint8)), np.zeros(0, F32), ("F8_E5M2", np.zeros(2, np.uint8))):
        parts = {"x.l.weight": ("F8_E4M3", few), "scaled_fp8": marker,
                 "x.l.scale_weight": np.array(.3, F32), "y.weight": ("F8_E4M3", few), "y.scale_weight": np.array(2, F32)}
        # ComfyUI treats a missing scale as 1
        READER.refuse(dict(parts, **{"l.weight": ("F8_E4M3", few)}), "scale_weight', which is missing: 'scaled_fp8'", what="no scale")
        READER.read(parts, {"x.l.weight": E4M3[few] * F32(.3), "y.weight": E4M3[few] * 2},
                    what="no scales")
    done = READER.run("quant", "case/m.safetensors", "bf16", "--dequant", "--keep", "x.*", "-o", "case/out.safetensors", "-q",
                      "--force")
    TALLY.check("with a tensor that is kept", sorted(read_file("case/out.safetensors")),
                sorted(parts.keys() - {"y.scale_weight"}))
    READER.refuse({"l.weight": ("F8_E4M3", codes), "l.scale_weight": np.ones((4, 10, 1), F32)}, "shape", what="blocks")


def comfy():
    """By X.comfy_quant, and by the metadata; without either, the same names mean ModelOpt."""
    def both(parts, want, form, what):
        READER.read(dict(parts, **{"a.l.comfy_quant": text(form)}), want, what=what)
        metadata = {"_quantization_metadata": json.dumps({"format_version": "1.0", "layers": {"x": {}, "a.l": form}})}
        READER.read(parts, want, metadata=metadata, what=what + " in the metadata")
        TALLY.check(what + ": layout", READER.forms()["a.l.weight"]["layout"], "comfy")
    for (dtype, table, name), shape in ((f, s) for f in FP8 for s in SHAPES):
        codes, scale = finite(table, shape), np.array(RANDOM.uniform(0, 2), F32)
        both({"a.l.weight": (dtype, codes), "a.l.weight_scale": scale, "a.l.input_scale": np.array(3, F32)},
             {"a.l.weight": table[codes] * scale, "a.l.input_scale": np.array(3, F32)},
             {"format": name, "full_precision_matrix_mult": True}, "comfy %s %s" % (name, shape))
    for shape in SHAPES:
        codes, scale = random_int8(shape), RANDOM.uniform(0, 2, (shape[0], 1)).astype(F32)
        both({"a.l.weight": codes, "a.l.weight_scale": scale}, {"a.l.weight": codes.astype(F32) * scale},
             {"params": {"convrot": False, "x": [{}]}, "format": "int8_tensorwise"}, "comfy int8 %s" % (shape,))
    for rows, columns, side in ((256, 384, 128), (200, 384, 128), (130, 100, 64), (100, 200, 128), (96, 64, 32), (384, 129, None)):
        codes, of = random_int8((rows, columns)), side or 128
        scale = RANDOM.uniform(0, 2, (-(-rows // of), -(-columns // of))).astype(F32)
        both({"a.l.weight": codes, "a.l.weight_scale": scale, "a.l.input_scale": np.array(1, F32)},
             {"a.l.weight": codes.astype(F32) * np.repeat(np.repeat(scale, of, 0), of, 1)[:rows, :columns],
              "a.l.input_scale": np.array(1, F32)},
             dict({"format": "int8_blockwise"}, **({"group_size": side} if side else {})),
             "comfy int8_blockwise %d x %d" % (rows, columns))
    for rows, columns in ((1, 16), (16, 64), (128, 64), (144, 80), (256, 128), (300, 1040)):
        packed = RANDOM.integers(0, 256, (rows, columns // 2)).astype(np.uint8)
        scale, whole = finite(E4M3, (rows, columns // 16)) & 0x7f, np.array(0.37, F32)
        codes = np.stack([packed >> 4, packed & 15], -1).reshape(rows, columns)
        for stored in (("F8_E4M3", tiles(scale)), tiles(scale)):
            both({"a.l.weight": packed, "a.l.weight_scale": stored, "a.l.weight_scale_2": whole},
                 {"a.l.weight": np.repeat(E4M3[scale] * whole, 16, 1) * E2M1[codes]}, {"format": "nvfp4"},
                 "comfy nvfp4 %d x %d" % (rows, columns))
    for rows, columns in ((1, 32), (32, 128), (128, 128), (160, 96), (256, 2080)):
        codes, scale = finite(E4M3, (rows, columns)), RANDOM.integers(100, 140, (rows, columns // 32)).astype(np.uint8)
        want = {"a.l.weight": E4M3[codes] * np.repeat(np.ldexp(F32(1), scale.astype(int) - 127), 32, 1)}
        for stored in (("F8_E8M0", tiles(scale)), tiles(scale)):
            both({"a.l.weight": ("F8_E4M3", codes), "a.l.weight_scale": stored}, want, {"format": "mxfp8"},
                 "comfy mxfp8 %d x %d" % (rows, columns))
    comfy_refused()


def comfy_refused():
    codes, scale = random_int8((128, 64)), np.ones((), F32)
    parts = {"l.weight": codes, "l.weight_scale": scale}
    for form, words in (({"format": "asym_w4a8_int8"}, "'asym_w4a8_int8', which is not supported"),
                        ({"format": "int8_blockwise", "group_size": 32}, "blocks of 32 x 32"),
                        ({"format": "int8_blockwise", "group_size": "64"}, "blocks of"),
                        ({"format": "int8_blockwise", "group_size": -1}, "blocks of"),
                        ({"format": "float8_e4m3fn"}, "codes of fp8_e4m3fn, and these are int8"),
                        ({"per_row": True}, "does not say what its format is"), ({"format": 1}, "does not say"),
                        ([1], "not a JSON object"), ({"format": "x" * 200}, "which is not supported")):
        READER.refuse(dict(parts, **{"l.comfy_quant": text(form)}), words, what="comfy_quant")
    for bad in (b"", b"{", b'{"format": "int8_tensorwise"} x', b'{"format": "int8_tensorwise",}'):
        READER.refuse(dict(parts, **{"l.comfy_quant": np.frombuffer(bad, np.uint8)}), "not a JSON object", what="JSON")
    READER.refuse(dict(parts, **{"l.comfy_quant": np.zeros(4, F32)}), "as U8", what="dtype")
    READER.refuse({"l.weight": codes, "l.comfy_quant": text({"format": "int8_tensorwise"})}, "weight_scale', which is missing",
                  what="no scale")
    for bad, words in (("{", "not as expected"), ("[]", "not as expected"), ('{"layers": {"l": {"format": "nvfp4"}}}', "nvfp4"),
                       ('{"layers": {"l": {}, "l": {}}}', "twice"), ('{"layers": {"l": 1}}', "does not say")):
        READER.refuse(parts, words, metadata={"_quantization_metadata": bad}, what="metadata %s" % bad)
    packed, flat = RANDOM.integers(0, 256, (128, 64)).astype(np.uint8), ("F8_E4M3", np.zeros((128, 8), np.uint8))
    nvfp4 = {"l.weight": packed, "l.weight_scale": flat, "l.comfy_quant": text({"format": "nvfp4"})}
    READER.refuse(nvfp4, "weight_scale_2', which is missing", what="no tensor scale")
    nvfp4["l.weight_scale_2"] = scale
    for bad in (packed[:127, :8], packed[:, :7], np.zeros((128, 12), np.uint8)):
        READER.refuse(dict(nvfp4, **{"l.weight_scale": ("F8_E4M3", bad)}), "no whole tiles", what="tiles %s" % (bad.shape,))
    READER.refuse(dict(nvfp4, **{"l.weight": packed[:, :63]}), "rows of whole blocks", what="columns")
    READER.refuse(dict(nvfp4, **{"l.weight": np.zeros((2, 65, 64), np.uint8)}), "no whole tiles", what="rank 3")
    READER.refuse(dict(nvfp4, **{"l.weight_scale": np.zeros((128, 8), F32)}), "expected scales of fp8", what="scales")


def comfy_itself():
    torch = have("torch")
    if not (torch and have("comfy_kitchen")):
        return TALLY.skip("comfy-kitchen itself")
    from comfy_kitchen import tensor as kitchen
    torch.manual_seed(4)
    names = {torch.float8_e4m3fn: "F8_E4M3", torch.float8_e5m2: "F8_E5M2", torch.float8_e8m0fnu: "F8_E8M0"}

    def array(x):
        return (names[x.dtype], x.view(torch.uint8).numpy()) if x.dtype in names else x.numpy()
    for layout, form, options in ((kitchen.TensorCoreFP8Layout, "float8_e4m3fn", {}),
                                  (kitchen.TensorCoreFP8Layout, "float8_e5m2", {"dtype": torch.float8_e5m2}),
                                  (kitchen.TensorWiseINT8Layout, "int8_tensorwise", {}),
                                  (kitchen.TensorWiseINT8Layout, "int8_tensorwise", {"per_channel": True}),
                                  (kitchen.TensorCoreMXFP8Layout, "mxfp8", {}),
                                  (kitchen.TensorCoreNVFP4Layout, "nvfp4", {})):
        for shape in ((32, 64), (128, 64), (130, 96), (256, 512)):
            codes, more = layout.quantize(torch.randn(shape) * 5, **options)
            parts = layout.state_dict_tensors(codes, more)
            tensors = {"l.weight" + end: array(part) for end, part in parts.items()}
            tensors["l.comfy_quant"] = text({"format": form})
            want = layout.dequantize(codes, more)
            READER.read(tensors, {"l.weight": want.numpy()}, what="its %s %s" % (form, shape))


def fbgemm():
    """fbgemm_fp8 in transformers: one scale per row; experts have one for each input or output of each expert."""
    config = {"quantization_config": {"quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0,
                                      "modules_to_not_convert": ["lm_head"]}}
    for shape, count in [(shape, (shape[0], 1)) for shape in SHAPES] + [((3, 20, 40), (3, 1, 40)), ((3, 20, 40), (3, 20, 1)),
                                                                       ((2, 64, 64), (2, 1, 64)), ((2, 64, 64), (2, 64, 1))]:
        codes, scale = finite(E4M3, shape), RANDOM.uniform(0, 2, count).astype(F32)
        name = "x.weight" if len(shape) == 2 else "x.gate_up_proj"
        parts = {name: ("F8_E4M3", codes), name + "_scale": scale, "lm_head.weight": np.ones(3, F32)}
        if len(shape) == 2:
            parts["x.input_scale_ub"] = np.array(1200, F32)
        for each in (config, None):
            want = dict(parts, **{name: E4M3[codes] * scale})
            del want[name + "_scale"]
            READER.read(parts, want, config=each, what="fbgemm %s" % (shape,))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for section in (bitsandbytes, bitsandbytes_itself, comfy_old, comfy, comfy_itself, fbgemm):
        section()
        TALLY.part(section.__name__)
TALLY.finish()
