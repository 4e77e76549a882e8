#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ComfyUI's layout as `quant` writes it. A model of the layout, written from its description, makes its parts from
those that `quant --layout modelopt` writes: the order of tiles, the first code in the high bits, rows and columns of
padding, and the texts. If comfy-kitchen is installed, it must read the files, and quantize the same matrices to the same
bytes.

usage: test_comfy_files.py DTINFO
"""
import json
import os
import struct
import tempfile

from harness import have
from transcode_check import F32, RANDOM, TALLY, equal, np, read, run, torch, write
from layout_files import E2M1, E4M3, E5M2, tiles
from tensor_files import read_file

FORMATS = {"fp8_e4m3fn": "float8_e4m3fn", "fp8_e5m2": "float8_e5m2", "int8": "int8_tensorwise", "mxfp8_e4m3": "mxfp8",
           "nvfp4": "nvfp4"}
DTYPES = {"fp8_e4m3fn": "F8_E4M3", "fp8_e5m2": "F8_E5M2", "int8": "I8", "mxfp8_e4m3": "F8_E4M3", "nvfp4": "U8"}
# rows: no multiple of 16, 32, 128; columns: scales that are no multiple of 4, and codes that are no whole blocks
SHAPES = ((1, 1), (5, 20), (16, 16), (32, 32), (128, 64), (130, 96), (257, 36), (300, 320), (64, 4096), (1000, 1040))
STACKS = ((3, 128, 64), (2, 256, 96))
LENGTH = {"mxfp8_e4m3": 32, "nvfp4": 16}


def matrices(shapes, number=F32):
    result = {}
    for i, shape in enumerate(shapes):
        x = RANDOM.normal(0, 1, shape) * 10.0 ** RANDOM.integers(-3, 2)
        x[..., 0] = 0
        if shape[-1] > 8:
            x[..., 0, :] = 0 # a whole row: blocks of zeros
        result["m.%d.weight" % i] = x.astype(number)
    return result


def metadata(path):
    with open(path, "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        return json.loads(file.read(length))["__metadata__"]


def filled(array, rows, columns):
    """With zeros below and on the right."""
    return np.pad(array, ((0, rows - array.shape[0]), (0, columns - array.shape[1])))


def up(size, unit):
    return -(-size // unit) * unit


def numbers(dtype, parts, name):
    """The numbers of a matrix, by the description of the layout."""
    codes, scale = parts[name], parts[name + "_scale"]
    if dtype == "int8":
        return codes.astype(F32) * scale
    if dtype in ("fp8_e4m3fn", "fp8_e5m2"):
        return (E4M3 if dtype == "fp8_e4m3fn" else E5M2)[codes] * scale
    rows = codes.reshape(-1, codes.shape[-1])
    if dtype == "nvfp4":
        rows = np.stack([rows >> 4, rows & 15], -1).reshape(rows.shape[0], -1)
    blocks = rows.shape[1] // LENGTH[dtype]
    flat = np.empty((rows.shape[0], blocks), np.uint8)
    order = tiles(np.arange(rows.shape[0] * blocks).reshape(-1, blocks) + 1).reshape(-1)
    stored = scale.reshape(-1)
    flat.reshape(-1)[order[order > 0] - 1] = stored[order > 0]
    TALLY.check("%s %s: padding of tiles" % (dtype, codes.shape), int(stored[order == 0].astype(int).sum()), 0)
    if dtype == "nvfp4":
        factors = E4M3[flat] * parts[name + "_scale_2"].reshape(())
        result = np.repeat(factors, 16, 1) * E2M1[rows]
    else:
        result = E4M3[rows] * np.repeat(np.ldexp(F32(1), flat.astype(int) - 127).astype(F32), 32, 1)
    return result.reshape(*codes.shape[:-1], -1)


def by_model():
    """The same codes and scales as in ModelOpt's layout, in other places."""
    for dtype in LENGTH:
        of = matrices(SHAPES + STACKS)
        write("in.safetensors", {name: ("F32", x) for name, x in of.items()})
        whole = {name: np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, -x.shape[-1] % LENGTH[dtype])]) for name, x in of.items()}
        write("whole.safetensors", {name: ("F32", x) for name, x in whole.items()})
        run("quant", "in.safetensors", dtype, "--layout", "comfy", "--pad", "-o", "out.safetensors", "--force", "-q")
        run("quant", "whole.safetensors", dtype, "--layout", "modelopt", "-o", "plain.safetensors", "--force", "-q")
        got, plain = read("out.safetensors"), read("plain.safetensors")
        layers = json.loads(metadata("out.safetensors")["_quantization_metadata"])
        TALLY.check(dtype + ": version", layers["format_version"], "1.0")
        TALLY.check(dtype + ": layers", sorted(layers["layers"]), sorted(name[:-7] for name in of))
        for name, x in of.items():
            codes, scales = plain[name], plain[name + "_scale"]
            if dtype == "nvfp4":
                codes = codes << 4 | codes >> 4
                TALLY.check(name + ": tensor scale", got[name + "_scale_2"].tobytes(), plain[name + "_scale_2"].tobytes())
                TALLY.check(name + ": its shape", got[name + "_scale_2"].shape, ())
            said = {"format": FORMATS[dtype]}
            if x.ndim == 2:
                rows = up(x.shape[0], LENGTH[dtype])
                codes = filled(codes, rows, codes.shape[1])
                if rows != x.shape[0] or x.shape[1] % LENGTH[dtype] != 0:
                    said["orig_shape"] = list(x.shape)
                want = tiles(scales)
            else:
                want = np.stack([tiles(one) for one in scales])
            TALLY.check("%s %s: codes" % (dtype, x.shape), (got[name].shape, got[name].tobytes()), (codes.shape, codes.tobytes()))
            TALLY.check("%s %s: scales" % (dtype, x.shape), (got[name + "_scale"].shape, got[name + "_scale"].tobytes()),
                        (want.shape, want.tobytes()))
            TALLY.check("%s: what it is" % name, json.loads(got[name[:-6] + "comfy_quant"].tobytes()), said)
            TALLY.check("%s: the same in the metadata" % name, layers["layers"][name[:-7]], said)
        TALLY.check(dtype + ": parts", len(got), len(of) * (4 if dtype == "nvfp4" else 3))
        TALLY.part(dtype + " by the model")


def read_again():
    """Numbers by the model, and by the reader; and the dtypes of the parts."""
    for dtype, format_name in FORMATS.items():
        of = matrices(SHAPES + STACKS, np.float16)
        write("in.safetensors", {name: ("F16", x) for name, x in of.items()})
        pad = ["--pad"] if dtype in LENGTH else []
        run("quant", "in.safetensors", dtype, "--layout", "comfy", *pad, "-o", "out.safetensors", "--force", "-q")
        run("quant", "out.safetensors", "fp32", "--dequant", "-o", "back.safetensors", "--force", "-q")
        parts, back = read("out.safetensors"), read("back.safetensors")
        dtypes = {name: dtype_name for name, (dtype_name, _, _) in read_file("out.safetensors").items()}
        scale_dtype = {"mxfp8_e4m3": "F8_E8M0", "nvfp4": "F8_E4M3"}.get(dtype, "F32")
        for name, x in of.items():
            stem = name[:-7]
            TALLY.check(name + ": dtypes", (dtypes[name], dtypes[name + "_scale"], dtypes[stem + ".comfy_quant"]),
                        (DTYPES[dtype], scale_dtype, "U8"))
            if dtype not in LENGTH:
                TALLY.check(name + ": one scale", parts[name + "_scale"].shape, ())
            want = numbers(dtype, parts, name)
            cut = tuple(slice(size) for size in x.shape)
            equal("%s %s" % (format_name, x.shape), back[name], want[cut])
            rest = want.copy()
            rest[cut] = 0
            TALLY.check("%s %s: padding" % (format_name, x.shape), float(np.abs(rest).sum()), 0.0)
        TALLY.part(format_name + " read again")


def channels():
    of = matrices(SHAPES[3:])
    write("in.safetensors", {name: ("F32", x) for name, x in of.items()})
    run("quant", "in.safetensors", "int8", "--per", "channel", "--layout", "comfy", "-o", "out.safetensors", "--force", "-q")
    parts = read("out.safetensors")
    for name, x in of.items():
        TALLY.check(name + ": a scale for each row", parts[name + "_scale"].shape, (x.shape[0], 1))
        scale = np.maximum(np.abs(x).max(1, keepdims=True) / F32(127), F32(2.0 ** -149))
        equal("int8 rows", parts[name + "_scale"][np.abs(x).max(1) > 0], scale[np.abs(x).max(1) > 0])
    TALLY.part("int8 with a scale for each row")


def kitchen_reads(layouts, parts, name, format_name, shape):
    """What comfy-kitchen makes of the parts, in fp32."""
    from comfy_kitchen import tensor as kitchen
    layout = layouts[format_name]
    kinds = {"float8_e4m3fn": torch.float8_e4m3fn, "float8_e5m2": torch.float8_e5m2, "mxfp8": torch.float8_e4m3fn}
    codes = torch.tensor(parts[name])
    codes = codes.view(kinds[format_name]) if format_name in kinds else codes
    scale = torch.tensor(parts[name + "_scale"])
    same = {"orig_dtype": torch.float32, "orig_shape": shape}
    if format_name == "nvfp4":
        params = layout.Params(scale=torch.tensor(parts[name + "_scale_2"]), block_scale=scale.view(torch.float8_e4m3fn), **same)
    elif format_name == "mxfp8":
        params = layout.Params(scale=scale.view(torch.float8_e8m0fnu), **same)
    else:
        params = layout.Params(scale=scale, **same)
    return kitchen.QuantizedTensor(codes, layout.__name__, params)


def kitchen_itself():
    if not (torch and have("comfy_kitchen")):
        return TALLY.skip("comfy-kitchen itself")
    from comfy_kitchen import tensor as kitchen
    layouts = {"float8_e4m3fn": kitchen.TensorCoreFP8Layout, "float8_e5m2": kitchen.TensorCoreFP8Layout,
               "int8_tensorwise": kitchen.TensorWiseINT8Layout, "mxfp8": kitchen.TensorCoreMXFP8Layout,
               "nvfp4": kitchen.TensorCoreNVFP4Layout}
    rules = {"fp8_e4m3fn": ["--division", "reciprocal"], "fp8_e5m2": ["--division", "reciprocal"], "int8": [],
             "mxfp8_e4m3": ["--mx-scale", "rceil", "--pad"], "nvfp4": ["--pad"]}
    for dtype, format_name in FORMATS.items():
        of = matrices(SHAPES)
        write("in.safetensors", {name: ("F32", x) for name, x in of.items()})
        for per in ([], ["--per", "channel"]) if dtype == "int8" else ([],):
            run("quant", "in.safetensors", dtype, "--layout", "comfy", *rules[dtype], *per, "-o", "out.safetensors", "--force",
                "-q")
            run("quant", "out.safetensors", "fp32", "--dequant", "-o", "back.safetensors", "--force", "-q")
            parts, back = read("out.safetensors"), read("back.safetensors")
            for name, x in of.items():
                theirs = kitchen_reads(layouts, parts, name, format_name, x.shape).dequantize().float().numpy()
                equal("%s %s: comfy-kitchen reads it" % (format_name, x.shape), back[name],
                      theirs[:x.shape[0], :x.shape[1]])
                if not x.any():
                    continue # its scale of zeros is 1e-30, 0 or NaN, by the format
                options = {"dtype": torch.float8_e5m2} if dtype == "fp8_e5m2" else {"per_channel": bool(per)} if dtype == "int8" \
                    else {}
                codes, more = layouts[format_name].quantize(torch.tensor(x), **options)
                for end, part in layouts[format_name].state_dict_tensors(codes, more).items():
                    own, want = parts[name + end], part.contiguous().view(torch.uint8).numpy() if part.dim() else part.numpy()
                    if end == "_scale" and per: # of a row of zeros: 1e-30
                        own = np.where(np.abs(x).max(1, keepdims=True) == 0, F32(1e-30), own)
                    TALLY.checked += want.size
                    TALLY.check("%s %s%s: the same bytes" % (format_name, x.shape, end),
                                (own.shape, own.tobytes()), (tuple(part.shape), want.tobytes()))
        TALLY.part(format_name + " by comfy-kitchen")


def main():
    by_model()
    read_again()
    channels()
    kitchen_itself()


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
TALLY.finish()
