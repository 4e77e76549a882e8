# SPDX-License-Identifier: MIT
"""Matrices in which several rows share bytes, ModelOpt's W4A16_AWQ and BitNet, against a numpy model and, if
installed, the original tools' packing and unpacking.

usage: test_shared_rows.py DTINFO
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
from layout_files import Reader

warnings.simplefilter("ignore")
os.environ["TORCHDYNAMO_DISABLE"] = "1"
RANDOM = np.random.default_rng(20261125)
F32 = np.float32
TALLY = Tally()
READER = Reader(PROGRAM, TALLY)


def bits16(x):
    """The bf16 bits of fp32 numbers that bf16 holds exactly."""
    return (np.asarray(x, F32).view(np.uint32) >> 16).astype(np.uint16)


def coarse(*shape):
    return (RANDOM.integers(1, 256, shape) / 512).astype(F32)


SHAPES = (((2, 8), 8), ((6, 96), 32), ((128, 256), 128), ((258, 64), 64), ((2, 40000), 16), ((3, 10, 64), 32))


def pairs():
    for shape, group in SHAPES:
        codes = RANDOM.integers(-8, 8, shape)
        packed = ((codes[..., 0::2, :] & 15) | (codes[..., 1::2, :] & 15) << 4).astype(np.uint8)
        scale = coarse(*shape[:-1], shape[-1] // group)
        want = codes.astype(F32) * np.repeat(scale, group, -1)
        pre = coarse(shape[-1])
        for stored in (scale, ("BF16", bits16(scale)), scale.astype(np.float16)):
            for config in (None, {"quantization_config": {"quant_method": "modelopt", "quant_algo": "W4A16_AWQ",
                                                          "group_size": group}}):
                READER.read({"m.weight": packed, "m.weight_scale": stored, "m.pre_quant_scale": pre},
                            {"m.weight": want, "m.pre_quant_scale": pre}, config=config, what="pairs %s" % (shape,))
        form = READER.forms()["m.weight"]
        TALLY.check("form", (form["layout"], form["format"], form["group"]), ("modelopt", "int4", group))
    parts = {"m.weight": packed, "m.weight_scale": scale}
    READER.refuse(parts, "groups of 32, and config.json says 64", what="group",
                  config={"quantization_config": {"quant_method": "modelopt", "quant_algo": "W4A16_AWQ", "group_size": 64}})
    READER.refuse(dict(parts, **{"m.weight_scale_2": np.ones((), F32)}), "W4A8_AWQ", what="second scale")
    READER.refuse(dict(parts, **{"m.weight_scale": coarse(3, 10, 3)}), "do not divide", what="groups")
    for bad in (coarse(3, 8, 2), coarse(2, 10, 2), coarse(30, 2), coarse(3, 10, 0)):
        READER.refuse(dict(parts, **{"m.weight_scale": bad}), "'m.weight", what="scales %s" % (bad.shape,))


def trits(rows, columns):
    codes = RANDOM.integers(0, 4, (4 * rows, columns))
    packed = sum(codes[i * rows:(i + 1) * rows] << (2 * i) for i in range(4)).astype(np.uint8)
    return codes - 1, packed


def bitnet():
    def config(**more):
        return {"quantization_config": dict({"quant_method": "bitnet"}, **more)}
    differ = 0
    for rows, columns in ((1, 1), (1, 7), (3, 20), (64, 130), (2, 40000)):
        numbers, packed = trits(rows, columns)
        scale = RANDOM.uniform(.01, 90, 1).astype(F32)
        differ += int((numbers / scale != numbers * scale).any())
        parts = {"m.weight": packed, "m.weight_scale": scale}
        for form in (config(), config(linear_class="bitlinear"), config(linear_class="autobitlinear")):
            multiplies = form["quantization_config"].get("linear_class") == "autobitlinear"
            want = numbers.astype(F32) * scale if multiplies else numbers.astype(F32) / scale
            READER.read(parts, {"m.weight": want}, config=form, what="bitnet %d x %d" % (rows, columns))
    TALLY.check("dividing differs from multiplying", differ, 5)
    TALLY.check("form", READER.forms()["m.weight"]["layout"], "bitnet")
    for other in ("x", "BitLinear", "a" * 90):
        READER.refuse(parts, "a factor or a divisor", config=config(linear_class=other), what=other)
    READER.refuse(dict(parts, **{"m.weight_scale": np.ones(1, np.int32)}), "as a float", config=config(), what="dtype")
    READER.refuse(parts, "'m.weight'", what="no config")     # it could be plain uint8


def itself():
    torch = have("torch")
    if torch and have("transformers"):
        from transformers.integrations.bitnet import pack_weights, unpack_weights
        numbers = torch.randint(-1, 2, (12, 9)).float()
        packed = pack_weights(numbers.clone())
        assert torch.equal(unpack_weights(packed, torch.float32), numbers)
        READER.read({"m.weight": packed.numpy(), "m.weight_scale": np.array([.5], F32)}, {"m.weight": numbers.numpy() * 2},
                    config={"quantization_config": {"quant_method": "bitnet"}}, what="packed by transformers")
    else:
        TALLY.skip("transformers")
    try:
        found = torch and importlib.util.find_spec("modelopt")
    except ImportError:
        found = None
    if not found:
        return TALLY.skip("modelopt")
    # a single function of a file that imports a whole framework
    path = os.path.join(os.path.dirname(found.origin), "torch/export/quant_utils.py")
    with open(path) as file:
        tree = ast.parse(file.read())
    tree.body = [f for f in tree.body if getattr(f, "name", "") in ("pack_int4_in_uint8", "_validate_int4_block_size")]
    names = {"torch": torch}
    exec(compile(tree, path, "exec"), names)
    for shape, group in SHAPES:
        scale = torch.from_numpy(coarse(*shape[:-1], shape[-1] // group))
        numbers = torch.randint(-8, 8, shape).float() * scale.repeat_interleave(group, -1)
        packed = names["pack_int4_in_uint8"](numbers, scale, group)
        READER.read({"m.weight": packed.numpy(), "m.weight_scale": scale.numpy()}, {"m.weight": numbers.numpy()},
                    what="packed by ModelOpt %s" % (shape,))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for section in (pairs, bitnet, itself):
        section()
        TALLY.part(section.__name__)
TALLY.finish()
