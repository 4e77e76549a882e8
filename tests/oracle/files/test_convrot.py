# SPDX-License-Identifier: MIT
"""ConvRot, ComfyUI's rotated integers: what is read equals the exact value of the codes, rotated back and rounded once,
by a numpy model of the Hadamard matrix written from its definition; and it is within rounding of what comfy-kitchen
computes, if that is installed.

usage: test_convrot.py DTINFO
"""
import json
import os
import sys
import tempfile
from fractions import Fraction

from harness import Tally, have

PROGRAM = os.path.abspath(sys.argv[1])
if not have("numpy"):
    print("skipped: needs numpy")
    sys.exit(77)
import numpy as np
from layout_files import Reader
from tensor_files import read_file

RANDOM = np.random.default_rng(20261128)
F32 = np.float32
TALLY = Tally()
READER = Reader(PROGRAM, TALLY)
H4 = np.array([[1, 1, 1, -1], [1, 1, -1, 1], [1, -1, 1, 1], [-1, 1, 1, 1]])


def hadamard(length):
    """Not divided by the square root of its length: integers."""
    matrix = np.ones((1, 1), np.int64)
    while len(matrix) < length:
        matrix = np.kron(matrix, H4)
    return matrix


def text(form):
    return np.frombuffer(json.dumps(form).encode(), np.uint8)


def rotated_back(codes, scale, length):
    """Sums of integers, and one rounding: fp64 holds the product of such a sum and a fp32 scale exactly."""
    rows, columns = codes.shape
    sums = codes.astype(np.int64).reshape(rows, columns // length, length) @ hadamard(length)
    return (sums.reshape(rows, columns) / length ** .5 * np.asarray(scale, np.float64)).astype(F32)


def packed(codes):
    return ((codes[:, 0::2] & 15) | (codes[:, 1::2] & 15) << 4).astype(np.uint8).view(np.int8)


def matrix():
    """The definition itself: symmetric, its own inverse, each row has the same sum; and the model above, in fractions."""
    for length in (4, 16, 64, 256):
        h = hadamard(length)
        TALLY.check("symmetric", (h == h.T).all(), True)
        TALLY.check("orthogonal", (h @ h == length * np.eye(length, dtype=int)).all(), True)
        TALLY.check("regular", set(h.sum(1)), {int(length ** .5)})
    codes, scale = RANDOM.integers(-128, 128, (2, 16)), np.array([[0.37], [1e-3]], F32)
    got = rotated_back(codes, scale, 16)
    for row in range(2):
        for column in range(16):
            exact = sum(Fraction(int(codes[row, k])) * int(hadamard(16)[column, k]) for k in range(16)) / 4
            exact *= Fraction(float(scale[row, 0]))
            near = [Fraction(float(np.nextafter(got[row, column], F32(side)))) for side in (-np.inf, np.inf)]
            best = abs(Fraction(float(got[row, column])) - exact)
            TALLY.check("rounded once", all(best <= abs(other - exact) for other in near), True)


def scales(rows):
    return ((), np.array(RANDOM.uniform(0, .1), F32)), ((rows, 1), RANDOM.uniform(0, .1, (rows, 1)).astype(F32)), \
        ((rows,), RANDOM.uniform(0, .1, rows).astype(F32))


def read():
    """Shapes from one group to rows longer than a piece; both places of the members."""
    for length in (4, 16, 64, 256, 1024, 4096):
        for rows, groups in ((1, 1), (3, 2), (5, 3), (2, max(1, 40960 // length))):
            columns = length * groups
            for bits in (8, 4):
                limit = 1 << (bits - 1)
                codes = RANDOM.integers(-limit, limit, (rows, columns)).astype(np.int8)
                for shape, scale in scales(rows):
                    column = scale.reshape(-1, 1) if scale.ndim else scale
                    parts = {"a.l.weight": codes if bits == 8 else packed(codes), "a.l.weight_scale": scale}
                    form = {"format": "int8_tensorwise", "convrot": True, "convrot_groupsize": length}
                    if bits == 4:
                        form = {"format": "convrot_w4a4", "convrot_groupsize": length, "linear_dtype": "int8"}
                    want = {"a.l.weight": rotated_back(codes, column, length)}
                    what = "%s %d x %d, scale %s" % (form["format"], rows, columns, shape)
                    READER.read(dict(parts, **{"a.l.comfy_quant": text(form)}), want, what=what)
                    if groups > 3:
                        continue
                    metadata = {"_quantization_metadata": json.dumps({"layers": {"a.l": {"params": form, **{
                        "format": form["format"]}}}})}
                    READER.read(parts, want, metadata=metadata, what=what + " in params")
    form = READER.forms()["a.l.weight"]
    TALLY.check("form", (form["format"], form["layout"], form["per"], form["rotation"], form["parts"]),
                ("int4", "comfy", "channel", 4096, 3))


def defaults():
    """Groups of 256 unless stated; own members come before those of params; 0, null and false are false."""
    codes, scale = RANDOM.integers(-128, 128, (3, 256)).astype(np.int8), RANDOM.uniform(0, 1, (3, 1)).astype(F32)
    plain = codes.astype(F32) * scale
    for form, length in (({"convrot": True}, 256), ({"convrot": 1}, 256), ({"params": {"convrot": True}}, 256),
                         ({"convrot": True, "convrot_groupsize": 64, "params": {"convrot_groupsize": 16}}, 64),
                         ({"params": {"convrot_groupsize": 16}, "convrot": True}, 16),
                         ({"convrot": False, "params": {"convrot": True}}, 0), ({"convrot": 0}, 0), ({"convrot": None}, 0),
                         ({"other": {"convrot": True}}, 0), ({"params": [{"convrot": True}]}, 0),
                         ({"convrot_groupsize": 64}, 0), ({}, 0)):
        want = rotated_back(codes, scale, length) if length else plain
        READER.read({"l.weight": codes, "l.weight_scale": scale, "l.comfy_quant": text(dict(form, format="int8_tensorwise"))},
                    {"l.weight": want}, what="%s" % form)
        if READER.forms() and length:
            TALLY.check("rotation", READER.forms()["l.weight"]["rotation"], length)


def special():
    """Scales that are not ordinary: numbers of groups stay apart."""
    codes = RANDOM.integers(-128, 128, (6, 64)).astype(np.int8)
    scale = np.array([[0], [1e-44], [1e-38], [3e38], [np.inf], [np.nan]], F32)
    with np.errstate(all="ignore"):
        want = rotated_back(codes, scale, 16)
    want[np.isnan(want)] = np.nan
    READER.read({"l.weight": codes, "l.weight_scale": scale,
                 "l.comfy_quant": text({"format": "int8_tensorwise", "convrot": True, "convrot_groupsize": 16})},
                {"l.weight": want}, what="special scales")


def refused():
    codes, scale = RANDOM.integers(-128, 128, (4, 192)).astype(np.int8), np.ones((4, 1), F32)

    def no(form, words, codes=codes, scale=scale, name="int8_tensorwise"):
        READER.refuse({"l.weight": codes, "l.weight_scale": scale, "l.comfy_quant": text(dict({"format": name}, **form))}, words,
                      what="%s" % form)
    for size in (0, 1, 2, 3, 8, 32, 128, 512, 16384, 1 << 63, (1 << 64) - 4):
        no({"convrot": True, "convrot_groupsize": size}, "groups of %d columns; expected a power of 4" % size)
    for size in (-4, "64", None, 64.5, 1 << 70, [64], True):
        no({"convrot": True, "convrot_groupsize": size}, "not as expected")
        no({"convrot_groupsize": size}, "not as expected", name="convrot_w4a4")
    for stated in ("true", "", 0.5, [True], {}):
        no({"convrot": stated}, "not as expected")
    no({"convrot": True}, "rows of whole groups")
    no({"convrot": True, "convrot_groupsize": 256}, "rows of whole groups")
    no({"convrot_groupsize": 256}, "rows of whole groups", name="convrot_w4a4")
    no({"convrot": True, "convrot_groupsize": 64}, "matrix", codes=codes.reshape(2, 2, 192))
    for bad in (np.ones((4, 3), F32), np.ones((1, 4), F32), np.ones(3, F32), np.ones((4, 1, 1), F32), np.ones(4, np.int32)):
        no({"convrot": True, "convrot_groupsize": 64}, "one scale, or one per row", scale=bad)
    for name in ("float8_e4m3fn", "int8_blockwise", "nvfp4"):
        no({"convrot": True}, "with convrot, which ComfyUI does not have" if name == "int8_blockwise" else "codes of", name=name)
    READER.refuse({"l.weight": codes, "l.comfy_quant": text({"format": "convrot_w4a4"})}, "weight_scale', which is missing",
                  what="no scale")
    # Other layouts cannot say that codes are rotated.
    READER.write({"l.weight": codes, "l.weight_scale": scale,
                  "l.comfy_quant": text({"format": "int8_tensorwise", "convrot": True, "convrot_groupsize": 64})})
    for layout in ("gptq", "compressed-tensors", "mlx", "modelopt"):
        done = READER.run("transcode", "case/m.safetensors", "--to", layout, "-o", "case/o.safetensors")
        TALLY.check("transcode --to " + layout, (done.returncode, b"rotated" in done.stderr, os.path.exists("case/o.safetensors")),
                    (2, True, False))


def itself():
    """comfy-kitchen's products are sums of rounded products in an order of its own: within 2^-20 of the largest."""
    torch = have("torch")
    if not (torch and have("comfy_kitchen")):
        return TALLY.skip("comfy-kitchen itself")
    from comfy_kitchen import tensor as kitchen
    torch.manual_seed(5)
    for length in (16, 64, 256):
        for layout, form, options in (
                (kitchen.TensorWiseINT8Layout, {"format": "int8_tensorwise", "convrot": True},
                 {"per_channel": True, "convrot": True}), (kitchen.TensorCoreConvRotW4A4Layout, {"format": "convrot_w4a4"}, {})):
            codes, more = layout.quantize(torch.randn(67, 4 * length), convrot_groupsize=length, **options)
            parts = {"l.weight" + end: part.numpy() for end, part in layout.state_dict_tensors(codes, more).items()}
            parts["l.comfy_quant"] = text(dict(form, convrot_groupsize=length))
            want = layout.dequantize(codes, more).numpy()
            READER.write(parts)
            READER.run("quant", "case/m.safetensors", "fp32", "--dequant", "-o", "case/out.safetensors", "-q")
            back = np.frombuffer(read_file("case/out.safetensors")["l.weight"][2], F32).reshape(want.shape)
            TALLY.checked += want.size
            TALLY.check("its %s %d" % (form["format"], length), bool(abs(back - want).max() <= abs(want).max() * 2.**-20), True)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for section in (matrix, read, defaults, special, refused, itself):
        section()
        TALLY.part(section.__name__)
TALLY.finish()
