# SPDX-License-Identifier: MIT
"""ConvRot, ComfyUI's rotated integers. What is read equals the exact value of the codes, rotated back and rounded once,
by a numpy model of the Hadamard matrix written from its definition; and it is within rounding of what comfy-kitchen
computes, if that is installed. What is written equals a model of the sums of comfy-kitchen, and comfy-kitchen itself, bit
for bit. The releases of ComfyUI that load a file.

usage: test_convrot.py DTINFO
"""
import json
import os
import sys
import tempfile
from fractions import Fraction

from harness import QUICK, Tally, have

PROGRAM = os.path.abspath(sys.argv[1])
if not have("numpy"):
    print("skipped: needs numpy")
    sys.exit(77)
import numpy as np
from layout_files import Reader
from tensor_files import read_file, write_file

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


def same(what, raw, want):
    """The bytes of a part, and an array; the number of them that differ counts."""
    got = np.frombuffer(raw, want.dtype)
    TALLY.checked += want.size
    if got.size != want.size:
        return TALLY.differ(what, got.size, want.size)
    view = "u%d" % want.itemsize
    different = np.flatnonzero(got.view(view) != want.reshape(-1).view(view))
    if different.size:
        TALLY.differ("%s: %d elements, the first is %d" % (what, different.size, different[0]), got[different[0]],
                     want.reshape(-1)[different[0]])


def as_stored(numbers, dtype):
    """fp32 numbers in the dtype of a file: what they are afterwards, and their tensor."""
    if dtype == "BF16":
        bits = numbers.view(np.uint32)
        codes = (bits + 0x7fff + (bits >> 16 & 1) >> 16).astype(np.uint16)
        return (codes.astype(np.uint32) << 16).view(F32), (dtype, codes.shape, codes.tobytes())
    codes = numbers.astype(np.float16 if dtype == "F16" else F32)
    return codes.astype(F32), (dtype, codes.shape, codes.tobytes())


def rotated(weights, length):
    """Products in fp32, summed in fp32 in the order of the columns, 128 at a time; then those sums likewise."""
    rows, columns = weights.shape
    groups = weights.reshape(rows * columns // length, length)
    matrix = (hadamard(length) / length ** .5).astype(F32)
    total = None
    for begin in range(0, length, 128):
        run = np.zeros_like(groups)
        for k in range(begin, min(begin + 128, length)):
            run += groups[:, k:k + 1] * matrix[k]
        total = run if total is None else total + run
    return total.reshape(rows, columns)


def quantized(weights, length, bits):
    """Codes and scales: an int8 row is scaled by its largest magnitude / 127, at least 1e-30; int4 by that, at least 1e-10, / 7."""
    numbers = rotated(weights, length) if length else weights
    largest = abs(numbers).max(1, keepdims=True)
    scale = np.maximum(largest / F32(127), F32(1e-30)) if bits == 8 else np.maximum(largest, F32(1e-10)) / F32(7)
    codes = np.clip(np.rint(numbers / scale), -(1 << (bits - 1)), (1 << (bits - 1)) - 1).astype(np.int8)
    return (codes, scale) if bits == 8 else (packed(codes), scale.reshape(-1))


def weights_to_write():
    """Random, structured, with outliers, rows of zeros, of subnormals and of huge numbers; from one group to longer than a piece."""
    usual = (RANDOM.standard_normal((67, 1024)) * .02).astype(F32)
    usual[7], usual[8], usual[9] = 0, usual[8] * F32(1e-36), usual[9] * F32(1e38)
    usual[:, 5] *= 40
    usual[10, ::2] = 0
    steps = ((np.arange(40 * 512).reshape(40, 512) % 97 - 48) / F32(7)).astype(F32)
    cubes = (RANDOM.standard_normal((3, 20480)) ** 3).astype(F32)
    alike = np.full((5, 256), .5, F32)
    return {"usual": usual, "steps": steps, "cubes": cubes, "alike": alike, "row": RANDOM.standard_normal((1, 4096)).astype(F32)}


def cases_to_write():
    """A file of all these for each dtype, written by us: (its numbers, dtype, length, bits, our parts)."""
    for dtype in ("BF16",) if QUICK else ("F32", "BF16", "F16"):
        numbers, tensors = {}, {"norm": as_stored(np.ones(64, F32), dtype)[1]}
        for name, weights in weights_to_write().items():
            with np.errstate(over="ignore"):
                numbers[name], tensors[name + ".weight"] = as_stored(
                    np.clip(weights, -6e4, 6e4) if dtype == "F16" else weights, dtype)
        write_file("case/in.safetensors", tensors)
        for length in (16, 64, 256):
            for bits in (8, 4):
                done = READER.run("quant", "case/in.safetensors", "int%d" % bits, "--layout", "comfy", "--convrot", str(length),
                                  "-o", "case/out.safetensors", "--force", "-q")
                TALLY.check("written", (done.returncode, done.stderr), (0, b""))
                yield numbers, dtype, length, bits, read_file("case/out.safetensors")


def form_of(length, bits):
    return {"format": "int8_tensorwise", "convrot": True, "convrot_groupsize": length} if bits == 8 else \
        {"format": "convrot_w4a4", "convrot_groupsize": length}


def write():
    for numbers, dtype, length, bits, parts in cases_to_write():
        what = "int%d of %s by %d" % (bits, dtype, length)
        for name, weights in numbers.items():
            codes, scale = quantized(weights, length, bits)
            for end, want, stored in ((".weight", codes, "I8"), (".weight_scale", scale, "F32"),
                                      (".comfy_quant", text(form_of(length, bits)), "U8")):
                got = parts[name + end]
                TALLY.check("%s: %s%s" % (what, name, end), got[:2], (stored, list(want.shape)))
                same("%s: %s%s" % (what, name, end), got[2], want)
        TALLY.check(what + ": the rest", (sorted(parts), parts["norm"][0]), (sorted(
            ["norm"] + [name + end for name in numbers for end in (".weight", ".weight_scale", ".comfy_quant")]), dtype))


def copied():
    """Rotated codes go to ComfyUI's layout as they are; a cast of what is read comes back to the same codes, near enough."""
    for _, dtype, length, bits, parts in cases_to_write():
        done = READER.run("transcode", "case/out.safetensors", "--to", "comfy", "-o", "case/same.safetensors", "--force", "-q")
        TALLY.check("transcode", (done.returncode, done.stderr), (0, b""))
        copies = read_file("case/same.safetensors")
        TALLY.check("names", sorted(copies), sorted(parts))
        for name, part in parts.items():
            TALLY.check("int%d of %s by %d: %s, copied" % (bits, dtype, length, name), copies[name][:2], part[:2])
            same(name, copies[name][2], np.frombuffer(part[2], np.uint8))


def not_whole():
    """Rows that are no whole groups: int8 without a rotation, as musubi-tuner has it; int4 is refused."""
    numbers, tensors = {}, {}
    for name, columns in (("even", 128), ("odd", 96), ("less", 24)):
        numbers[name], tensors[name + ".weight"] = as_stored(RANDOM.standard_normal((5, columns)).astype(F32), "F32")
    write_file("case/in.safetensors", tensors)
    arguments = ("quant", "case/in.safetensors", "--layout", "comfy", "--convrot", "64", "-o", "case/out.safetensors", "--force")
    done = READER.run(*arguments[:2], "int8", *arguments[2:])
    TALLY.check("warned", (done.returncode, b"2 matrices are quantized without a rotation" in done.stderr), (0, True))
    parts = read_file("case/out.safetensors")
    for name, weights in numbers.items():
        length = 64 if name == "even" else 0
        codes, scale = quantized(weights, length, 8)
        same(name, parts[name + ".weight"][2], codes)
        same(name + " scale", parts[name + ".weight_scale"][2], scale)
        TALLY.check(name + " form", json.loads(parts[name + ".comfy_quant"][2]), form_of(64, 8) if length else
                    {"format": "int8_tensorwise"})
    for more, words in (((*arguments[:2], "int4", *arguments[2:]), b"no whole groups of 64"),
                        (("quant", "case/in.safetensors", "int4", "--layout", "comfy", "-o", "case/no.safetensors"), b"has no other int4"),
                        ((*arguments[:2], "int8", *arguments[2:], "--per", "tensor"), b"leave out --per"),
                        ((*arguments[:2], "fp8_e4m3fn", *arguments[2:]), b"int8 and int4"),
                        (("quant", "case/in.safetensors", "int8", "--convrot", "64", "-o", "case/no.safetensors"), b"--layout comfy"),
                        (("quant", "case/in.safetensors", "int8", "--layout", "comfy", "--convrot", "100", "-o",
                          "case/no.safetensors"), b"16, 64 or 256"),
                        (("quant", "case/in.safetensors", "int8", "--layout", "comfy", "--convrot", "1024", "-o",
                          "case/no.safetensors"), b"from 16 to 256")):
        done = READER.run(*more)
        TALLY.check("refused: %s" % words, (done.returncode, words in done.stderr, os.path.exists("case/no.safetensors")),
                    (2, True, False))


def bit_for_bit():
    """comfy-kitchen on what the files hold, in fp32, as musubi-tuner calls it. Matrices of fewer than 12 groups in all are
    left out: there MKL sums in yet another order."""
    torch = have("torch")
    if not (torch and have("comfy_kitchen")):
        return TALLY.skip("comfy-kitchen, bit for bit")
    from comfy_kitchen import tensor as kitchen
    for numbers, dtype, length, bits, parts in cases_to_write():
        for name, weights in numbers.items():
            layout = kitchen.TensorWiseINT8Layout if bits == 8 else kitchen.TensorCoreConvRotW4A4Layout
            more = {"per_channel": True, "convrot": True} if bits == 8 else {}
            codes, form = layout.quantize(torch.from_numpy(weights.copy()), convrot_groupsize=length, **more)
            what = "its int%d of %s by %d: %s" % (bits, dtype, length, name)
            TALLY.check(what, (parts[name + ".weight"][1], parts[name + ".weight_scale"][1]), (list(codes.shape), list(form.scale.shape)))
            same(what, parts[name + ".weight"][2], codes.numpy())
            same(what + ", scales", parts[name + ".weight_scale"][2], form.scale.numpy())


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.mkdir("case")
    for section in (matrix, read, defaults, special, refused, itself, write, copied, not_whole, bit_for_bit):
        section()
        TALLY.part(section.__name__)
TALLY.finish()
