#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ComfyUI's layout as `quant` and `transcode` write it. A model of the layout, written from its description, makes its parts from
those that `quant --layout modelopt` writes: the order of tiles, the first code in the high bits, rows and columns of
padding, and the texts. If comfy-kitchen is installed, it must read the files, and quantize the same matrices to the same
bytes.

What ComfyUI does when it loads a file is modelled after comfy/utils.py and comfy/ops.py of July 2026.

usage: test_comfy_files.py DTINFO
"""
import json
import os
import struct
import tempfile

from harness import have
from kitchen_reads import kitchen_layouts, kitchen_reads
from transcode_check import F32, RANDOM, TALLY, equal, np, read, run, torch, write
from layout_files import E2M1, E4M3, E5M2, tiles
from tensor_files import read_file, write_file

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


# Of comfy/quant_ops.py: the dtype that codes are loaded as, and the scales that a layer must or may have.
ALGORITHMS = {"float8_e4m3fn": ("F8_E4M3", ["weight_scale"]), "float8_e5m2": ("F8_E5M2", ["weight_scale"]),
              "nvfp4": ("U8", ["weight_scale", "weight_scale_2"]), "mxfp8": ("F8_E4M3", ["weight_scale"]),
              "int8_tensorwise": ("I8", ["weight_scale"])}


def loaded(path):
    """The formats of all layers as ComfyUI finds them; every tensor has an owner."""
    tensors, entry = read_file(path), metadata(path).get("_quantization_metadata")
    configs = {name[:-12]: json.loads(raw) for name, (_, _, raw) in tensors.items() if name.endswith(".comfy_quant")}
    if entry: # it replaces the tensors
        TALLY.check("the entry and the tensors are equal", json.loads(entry)["layers"], configs)
    used = set()
    for layer, config in configs.items():
        dtype, scales = ALGORITHMS[config["format"]]
        TALLY.check(layer + ": dtype of codes", tensors[layer + ".weight"][0], dtype)
        for part in ["weight", "comfy_quant", *scales]:
            TALLY.check(layer + ": has " + part, layer + "." + part in tensors, True)
            used.add(layer + "." + part)
        if config["format"] == "nvfp4":
            TALLY.check(layer + ": viewed as fp8", tensors[layer + ".weight_scale"][0] in ("U8", "F8_E4M3"), True)
        if config["format"] == "mxfp8":
            TALLY.check(layer + ": viewed as powers of two", tensors[layer + ".weight_scale"][0] in ("U8", "F8_E8M0"), True)
    rest = {name: t for name, t in tensors.items() if name not in used}
    TALLY.check("the others are floats", sorted(name for name, t in rest.items() if t[0] not in ("F32", "F16", "BF16")), [])
    return {layer: config["format"] for layer, config in configs.items()}, sorted(rest)


def transcoded():
    """From the layouts of others: the same bytes as by `quant`, whose numbers are the same."""
    shapes = [shape for shape in SHAPES if shape[-1] % 32 == 0] + list(STACKS)
    of = matrices(shapes)
    write("in.safetensors", {name: ("F32", x) for name, x in of.items()})
    for dtype in FORMATS:
        pad = ["--pad"] if dtype in LENGTH else []
        run("quant", "in.safetensors", dtype, "--layout", "comfy", *pad, "-o", "want.safetensors", "--force", "-q")
        for layout in ("modelopt", "compressed-tensors"):
            if dtype == "fp8_e5m2" and layout == "modelopt":
                continue
            run("quant", "in.safetensors", dtype, "--layout", layout, "-o", "plain.safetensors", "--force", "-q")
            said = json.loads(run("transcode", "plain.safetensors", "--to", "comfy", "-o", "out.safetensors", "--force", "--json"))
            exact = not (dtype == "nvfp4" and layout == "compressed-tensors") # whose scale is a reciprocal
            totals = said["totals"]
            if exact:
                TALLY.check("%s of %s: lossless" % (dtype, layout), totals["lossless_blocks"], totals["blocks"])
            got, want = read("out.safetensors"), read("want.safetensors")
            TALLY.check("%s of %s: names" % (dtype, layout), sorted(got), sorted(want))
            for name in want:
                if exact or not name.endswith("_scale_2"):
                    TALLY.check("%s of %s: %s" % (dtype, layout, name), (got[name].shape, got[name].tobytes()),
                                (want[name].shape, want[name].tobytes()))
            TALLY.check("%s of %s: metadata" % (dtype, layout),
                        json.loads(metadata("out.safetensors")["_quantization_metadata"]),
                        json.loads(metadata("want.safetensors")["_quantization_metadata"]))
            loaded("out.safetensors")
        TALLY.part(FORMATS[dtype] + " transcoded")
    rows, columns, side = 256, 384, 128
    codes = RANDOM.integers(-128, 128, (rows, columns)).astype(np.int8)
    scale = RANDOM.uniform(0, 2, (rows // side, columns // side)).astype(F32)
    config = {"quant_method": "compressed-tensors", "format": "int-quantized", "config_groups": {"group_0": {
        "targets": ["Linear"], "format": "int-quantized", "weights": {
            "num_bits": 8, "type": "int", "symmetric": True, "strategy": "block", "block_structure": [side, side]}}}}
    write("squares/m.safetensors", {"l.weight": ("I8", codes), "l.weight_scale": ("F32", scale)}, config)
    run("transcode", "squares", "--to", "comfy", "-o", "blockwise", "--force")
    got = read("blockwise/m.safetensors")
    TALLY.check("int8 in squares", (got["l.weight"].tobytes(), got["l.weight_scale"].tobytes()), (codes.tobytes(), scale.tobytes()))
    TALLY.check("int8 in squares: its mark", json.loads(got["l.comfy_quant"].tobytes()), {"format": "int8_blockwise", "group_size": side})
    with open("blockwise/config.json") as file:
        TALLY.check("no configuration is left", json.load(file), {})
    TALLY.part("int8 in squares transcoded")


def mixed():
    """Several dtypes in one file, each tensor as if the file had only that one; in shards, too, and in a divided run."""
    of = matrices(SHAPES[4:9] + STACKS[:1])
    of.update({"m.norm.weight": np.ones(8, F32), "m.position": np.ones((4, 8), F32), "m.conv.weight": np.ones((2, 2, 3, 3), F32),
               "m.kept.weight": np.ones((64, 64), F32)})
    os.makedirs("shards", exist_ok=True)
    names = sorted(of)
    write("in.safetensors", {name: ("F32", x) for name, x in of.items()})
    for i in range(3):
        write_some("shards/model-0000%d-of-00003.safetensors" % (i + 1), {name: of[name] for name in names[i::3]})
    with open("shards/model.safetensors.index.json", "w") as file:
        json.dump({"metadata": {}, "weight_map": {name: "model-0000%d-of-00003.safetensors" % (i + 1) for i in range(3)
                                                  for name in names[i::3]}}, file)
    types = {"m.0.*": "fp8_e4m3fn", "m.1.*": "int8", "m.[23].*": "mxfp8", "m.2.*": "nvfp4"}
    words = ["nvfp4", "--layout", "comfy", "--pad", "--keep", "m.kept*", "--type", ",".join("%s=%s" % t for t in types.items())]
    run("quant", "in.safetensors", *words, "-o", "out.safetensors", "--force", "-q")
    got, back = read("out.safetensors"), None
    formats, rest = loaded("out.safetensors")
    TALLY.check("formats", formats, {"m.0": "float8_e4m3fn", "m.1": "int8_tensorwise", "m.2": "mxfp8", "m.3": "mxfp8",
                                     "m.4": "nvfp4", "m.5": "nvfp4"})
    TALLY.check("what is no matrix of a module is kept", rest, ["m.conv.weight", "m.kept.weight", "m.norm.weight", "m.position"])
    run("quant", "in.safetensors", *words, "-o", "other.safetensors", "--force", "-q", "--threads", "5", "--max-memory", "600KiB")
    TALLY.check("any threads and memory", open("other.safetensors", "rb").read() == open("out.safetensors", "rb").read(), True)
    with open("recipe.json", "w") as file:
        file.write(run("explain", "in.safetensors", "out.safetensors", "--json"))
    run("verify", "in.safetensors", "out.safetensors", "--recipe", "recipe.json")
    for layout in ([], ["--layout", "comfy"]):
        run("quant", "out.safetensors", "fp32", "--dequant", *layout, "-o", "back.safetensors", "--force")
        back = back or read("back.safetensors")
        TALLY.check("read as comfy", {name: x.tobytes() for name, x in read("back.safetensors").items()},
                    {name: x.tobytes() for name, x in back.items()})
    TALLY.check("bitsandbytes has none of it", "no quantized tensors" in run(
        "quant", "out.safetensors", "fp32", "--dequant", "--layout", "bitsandbytes", "-o", "no.safetensors", code=3), True)
    for layer, format_name in formats.items():
        dtype = next(one for one, word in FORMATS.items() if word == format_name)
        run("quant", "in.safetensors", dtype, "--layout", "comfy", *(["--pad"] if dtype in LENGTH else []), "--select",
            layer + ".weight", "-o", "one.safetensors", "--force", "-q")
        for name, part in read("one.safetensors").items():
            TALLY.check("mixed: " + name, (got[name].shape, got[name].tobytes()), (part.shape, part.tobytes()))
    run("quant", "shards", *words, "-o", "whole", "--force", "-q")
    for part in ("1/2", "2/2"):
        run("quant", "shards", *words, "-o", "parts", "--part", part, "-q")
    run("quant", "shards", *words, "-o", "parts", "--finish", "-q")
    found = {}
    for name in sorted(os.listdir("whole")):
        TALLY.check("divided: " + name, open("parts/" + name, "rb").read() == open("whole/" + name, "rb").read(), True)
        if name.endswith(".safetensors"):
            loaded("whole/" + name)
            found.update(read("whole/" + name))
    TALLY.check("in shards", {name: part.tobytes() for name, part in found.items()},
                {name: part.tobytes() for name, part in got.items()})
    TALLY.part("mixed")


def mixed_for_others():
    """Several dtypes in compressed-tensors, whose own code reads them by config.json; ModelOpt's has no place for that."""
    of = matrices([(64, 128)] * 4)
    write("plain/model.safetensors", {name: ("F32", x) for name, x in of.items()})
    with open("plain/config.json", "w") as file:
        file.write("{}")
    types = "m.0.*=fp8_e4m3fn,m.1.*=int8,m.2.*=mxfp4"
    run("quant", "plain", "nvfp4", "--type", types, "-o", "several", "--force", "-q")
    run("quant", "several", "fp32", "--dequant", "-o", "numbers", "--force", "-q")
    with open("several/config.json") as file:
        config = json.load(file)["quantization_config"]
    TALLY.check("groups", [(g["format"], g["targets"]) for g in config["config_groups"].values()],
                [("float-quantized", ["m.0"]), ("int-quantized", ["m.1"]), ("mxfp4-pack-quantized", ["m.2"]),
                 ("nvfp4-pack-quantized", ["m.3"])])
    run("quant", "plain", "nvfp4", "--layout", "modelopt", "--type", "m.0.*=mxfp4", "-o", "modelopt", "--force", "-q")
    with open("modelopt/config.json") as file:
        TALLY.check("ModelOpt's configuration", json.load(file), {})
    if not (torch and have("compressed_tensors")):
        return TALLY.skip("compressed-tensors")
    from compressed_tensors.compressors import BaseCompressor
    from compressed_tensors.quantization import QuantizationConfig
    parts, numbers_of = read_file("several/model.safetensors"), read("numbers/model.safetensors")
    kinds = {"F8_E4M3": torch.float8_e4m3fn, "F32": torch.float32, "U8": torch.uint8, "I8": torch.int8}
    for scheme in QuantizationConfig.model_validate(config).config_groups.values():
        stem = scheme.targets[0]
        state = {name[len(stem) + 1:]: torch.frombuffer(bytearray(raw), dtype=torch.uint8).view(kinds[dtype]).reshape(shape)
                 for name, (dtype, shape, raw) in parts.items() if name.startswith(stem + ".weight")}
        theirs = BaseCompressor.get_value_from_registry(scheme.format).decompress(state, scheme)["weight"].float().numpy()
        own = numbers_of[stem + ".weight"]
        if scheme.format.startswith("nvfp4"):   # it computes in bf16
            TALLY.check("nvfp4 by compressed-tensors", bool((np.abs(own - theirs) <= np.abs(own) / 64).all()), True)
        else:
            equal("%s by compressed-tensors" % scheme.format, own, theirs)
    TALLY.part("several dtypes in compressed-tensors")


def write_some(path, arrays):
    write_file(path, {name: ("F32", x.shape, x.tobytes()) for name, x in arrays.items()})


def added():
    """A second run adds layers to a file that has some."""
    of = matrices(SHAPES[4:8])
    write("in.safetensors", {name: ("F32", x) for name, x in of.items()})
    run("quant", "in.safetensors", "int8", "--layout", "comfy", "--quant-only", "m.[01].*", "-o", "some.safetensors", "--force", "-q")
    run("quant", "some.safetensors", "nvfp4", "--layout", "comfy", "--pad", "-o", "out.safetensors", "--force", "-q")
    TALLY.check("both runs", loaded("out.safetensors")[0], {"m.0": "int8_tensorwise", "m.1": "int8_tensorwise", "m.2": "nvfp4", "m.3": "nvfp4"})
    TALLY.part("layers added to a file")


def refused():
    of = {"a.weight": np.ones((100, 32), F32), "b.weight": np.ones((32, 24), F32), "c.weight": np.ones((3, 64, 32), F32),
          "d.weight": np.ones((32, 32), F32)}
    write("in.safetensors", {name: ("F32", x) for name, x in of.items()})
    for words, wanted in (
            (["nvfp4", "--select", "a.*"], "100 rows, and comfy has a multiple of 16"),
            (["nvfp4", "--select", "b.*"], "not a multiple of the block of 16"),
            (["nvfp4", "--pad", "--select", "c.*"], "matrices of 64 rows; comfy stacks those of a multiple of 128"),
            (["int8", "--per", "channel", "--select", "c.*"], "a scale for each channel"),
            (["int8", "--block", "16", "--select", "d.*"], "a scale for each group"),
            (["fp8_e4m3fn", "--per", "channel", "--select", "d.*"], "comfy has one scale"),
            (["nvfp4", "--axis", "0", "--select", "d.*"], "has blocks along axis 0; comfy has them along rows"),
            (["nvfp4", "--packing", "low"], "leave out --packing"), (["mxfp4"], "comfy does not support mxfp4"),
            (["uint8"], "does not support uint8"), (["nvfp4", "--type", "a.*=mxfp4"], "comfy does not support mxfp4"),
            (["nvfp4", "--type", "a.*"], "GLOB=DTYPE"), (["nvfp4", "--type", "=int8"], "GLOB=DTYPE"),
            (["nvfp4", "--type", "none=int8", "--pad"], "matches no tensor"), (["nvfp4,int8"], "a file goes to one dtype")):
        said = run("quant", "in.safetensors", *words, "--layout", "comfy", "-o", "no.safetensors", code=2)
        TALLY.check(" ".join(words), wanted in said and said.count("\n") == 1 or said, True)
        TALLY.check(" ".join(words) + ": nothing is written", os.path.exists("no.safetensors"), False)
    TALLY.part("refused")


def original_shapes():
    """What orig_shape may say."""
    write("in.safetensors", {"a.weight": ("F32", matrices([(5, 20)])["m.0.weight"])})
    run("quant", "in.safetensors", "nvfp4", "--layout", "comfy", "--pad", "-o", "out.safetensors", "--force", "-q")
    parts = read_file("out.safetensors")
    for shape, good in (([5, 20], True), ([16, 32], True), ([1, 17], True), ([17, 20], False), ([5, 16], False), ([5, 33], False),
                        ([0, 20], False), ([5], False), ([5, 20, 1], False), ("5", False), ([-5, 20], False),
                        ([2 ** 64 - 1, 20], False), ([5, 2.5], False), ([], False), (None, False)):
        text = json.dumps({"format": "nvfp4", "orig_shape": shape}).encode()
        write_file("changed.safetensors", dict(parts, **{"a.comfy_quant": ("U8", [len(text)], text)}))
        said = run("quant", "changed.safetensors", "fp32", "--dequant", "-o", "back.safetensors", "--force", code=0 if good else 3)
        if good:
            TALLY.check("orig_shape %s" % shape, list(read("back.safetensors")["a.weight"].shape), shape)
        else:
            TALLY.check("orig_shape %s" % shape, "a.weight" in said and "shape" in said and said.count("\n") == 1 or said, True)
    TALLY.part("original shapes")


def halves(kitchen):
    """From fp16 the scales of int8 and all of mxfp8 are the same, too."""
    of = matrices(SHAPES[4:], np.float16)
    write("in.safetensors", {name: ("F16", x) for name, x in of.items()})
    for dtype, layout, rules, ends in (("mxfp8_e4m3", kitchen.TensorCoreMXFP8Layout, ["--mx-scale", "rceil", "--pad"], ["", "_scale"]),
                                       ("int8", kitchen.TensorWiseINT8Layout, [], ["_scale"])):
        run("quant", "in.safetensors", dtype, "--layout", "comfy", *rules, "-o", "out.safetensors", "--force", "-q")
        parts = read("out.safetensors")
        for name, x in of.items():
            theirs = layout.state_dict_tensors(*layout.quantize(torch.tensor(x)))
            for end in ends:
                want = theirs[end].reshape(-1).view(torch.uint8).numpy().tobytes()
                TALLY.check("%s of fp16 %s%s" % (dtype, x.shape, end), parts[name + end].tobytes() == want, True)
    TALLY.part("from fp16")


def kitchen_itself():
    if not (torch and have("comfy_kitchen")):
        return TALLY.skip("comfy-kitchen itself")
    from comfy_kitchen import tensor as kitchen
    layouts = kitchen_layouts()
    rules = {"fp8_e4m3fn": ["--division", "reciprocal"], "fp8_e5m2": ["--division", "reciprocal"], "int8": [],
             "mxfp8_e4m3": ["--mx-scale", "rceil", "--pad"], "nvfp4": ["--pad"]}
    halves(kitchen)
    for dtype, format_name in FORMATS.items():
        of = matrices(SHAPES)
        write("in.safetensors", {name: ("F32", x) for name, x in of.items()})
        for per in ([], ["--per", "channel"]) if dtype == "int8" else ([],):
            run("quant", "in.safetensors", dtype, "--layout", "comfy", *rules[dtype], *per, "-o", "out.safetensors", "--force",
                "-q")
            run("quant", "out.safetensors", "fp32", "--dequant", "-o", "back.safetensors", "--force", "-q")
            parts, back = read("out.safetensors"), read("back.safetensors")
            for name, x in of.items():
                theirs = kitchen_reads(parts, name, format_name, x.shape).dequantize().float().numpy()
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
    transcoded()
    mixed()
    mixed_for_others()
    added()
    refused()
    original_shapes()
    kitchen_itself()


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
TALLY.finish()
