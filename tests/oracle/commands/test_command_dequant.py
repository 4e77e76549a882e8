#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What quant --dequant computes from codes and scales, against values recomputed here: every pair of a scale code and
an element code of the block formats, integers and floats with scales of every shape, in all forms found in files.
Files are written and read by hand; no package is needed. Also files whose parts do not fit together.

usage: test_command_dequant.py DTINFO
"""
import itertools
import json
import math
import os
import struct

from quant_check import RANDOM, ask, check, judge, run, run_parts
from dequant_files import (BLOCKS, E4M3, E5M2, bits_of, f32, floats, gguf_blocks, half, npy, pack, read_file,
                           scale_bytes, scale_number, scale_shapes, words, write_file, write_gguf)


def told(name):
    return {"dtinfo.quant.w": name + " low"} if name in ("mxfp6_e3m2", "bnb_fp4") else None


def store(name, codes, rows, scales, scale_shape, more=None):
    """A block tensor in the compressed-tensors layout. codes: of all rows."""
    numbers, bits, length, kind, dtype = BLOCKS[name]
    columns = len(codes) // rows
    raw = bytes(codes) if bits == 8 else b"".join(pack(codes[i:i + columns], bits)
                                                  for i in range(0, len(codes), columns))
    tensors = {"w" if bits == 8 else "w_packed": (dtype, [rows, columns * bits // 8], raw),
               "w_scale": (kind, scale_shape, scale_bytes(kind, scales))}
    tensors.update(more or {})
    return tensors


def all_pairs():
    """All scale codes with all element codes, if both are few."""
    for name, (numbers, bits, length, kind, _) in BLOCKS.items():
        if kind in ("U8", "F8_E4M3"):
            scales = list(range(256))
        elif kind == "F16":
            scales = [0, 0x8000, 1, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x7bff, 0x7c00, 0x7e00] + \
                [RANDOM.getrandbits(16) for _ in range(246)]
        else:
            scales = [0, 1, 0x7fffff, 0x800000, 0x3f800000, 0x7f7fffff, 0x7f800000, 0x7fc00000] + \
                [RANDOM.getrandbits(32) for _ in range(248)]
        columns = max(1 << bits, length)
        columns += -columns % length
        codes = [c % (1 << bits) for c in range(columns)] * 256
        each = columns // length
        want = [f32(numbers[codes[i * columns + j]] * scale_number(kind, scales[i]))
                for i in range(256) for j in range(columns)]
        tensors = store(name, codes, 256, [s for s in scales for _ in range(each)], [256, each])
        check("all pairs of " + name, tensors, [256, columns], want, told(name))


def odd_blocks():
    """Rows that end within a block, other axes, orders, tensor scales, the other layout."""
    for name, (numbers, bits, length, kind, dtype) in BLOCKS.items():
        def scale():
            return RANDOM.randrange(100, 140) if kind == "U8" else RANDOM.randrange(1, 0x7e) if kind == "F8_E4M3" else \
                0x3000 + RANDOM.randrange(0x1000) if kind == "F16" else bits_of(RANDOM.uniform(0.1, 9))
        rows, columns = 37, 3 * length
        codes = [RANDOM.randrange(1 << bits) for _ in range(rows * columns)]
        scales = [scale() for _ in range(rows * 3)]

        def want(ts=1.0, wide=columns, divisor=None):
            def whole(scale):
                return f32(scale_number(kind, scale, 1.0) / divisor) if divisor else scale_number(kind, scale, ts)
            return [f32(numbers[codes[i * columns + j]] * whole(scales[i * 3 + j // length]))
                    for i in range(rows) for j in range(wide)]
        tensors = store(name, codes, rows, scales, [rows, 3])
        check(name + " in rows", tensors, [rows, columns], want(), told(name))
        short = columns - RANDOM.randrange(1, length)
        check(name + " with padding", dict(tensors, w_shape=("I64", [2], struct.pack("<2q", rows, short))),
              [rows, short], want(wide=short), told(name))
        if name == "nvfp4":
            g = f32(0.0371)
            check("nvfp4, tensor scale", dict(tensors, w_global_scale=("F32", [1], struct.pack("<f", g))),
                  [rows, columns], want(divisor=g))
            check("nvfp4, tensor scale, like vLLM", dict(tensors, w_global_scale=("F32", [1], struct.pack("<f", g))),
                  [rows, columns], want(f32(1 / g)), None, ["--like", "vllm"])
            plain = {"w": ("U8",) + tensors["w_packed"][1:], "w_scale": tensors["w_scale"],
                     "w_scale_2": ("F32", [], struct.pack("<f", g))}
            check("nvfp4, modelopt", plain, [rows, columns], want(g))
            plain["w"] = ("F4", [rows, columns], plain["w"][2])
            check("nvfp4, F4", plain, [rows, columns], want(g))
        if name == "mxfp4":
            check("mxfp4, modelopt", {"w": ("U8",) + tensors["w_packed"][1:],
                                      "w_scale": ("F8_E8M0",) + tensors["w_scale"][1:]}, [rows, columns], want())
        if bits < 8:
            high = b"".join(pack(codes[i:i + columns], bits, True) for i in range(0, len(codes), columns))
            other = dict(tensors, w_packed=("U8", [rows, columns * bits // 8], high))
            check(name + ", element 0 high", other, [rows, columns], want(), told(name), ["--nibble", "high"])
            check(name + ", told to be high", other, [rows, columns], want(), {"dtinfo.quant.w": name + " high"})
        # down the columns of each of two matrices, whose last block is padded
        down = 2 * length
        height, width = down - RANDOM.randrange(0, length), 8
        codes3 = [RANDOM.randrange(1 << bits) for _ in range(2 * down * width)]
        scales3 = [scale() for _ in range(2 * 2 * width)]
        raw = bytes(codes3) if bits == 8 else b"".join(pack(codes3[i:i + width], bits)
                                                       for i in range(0, len(codes3), width))
        slab = {"w" if bits == 8 else "w_packed": (dtype, [2, down, width * bits // 8], raw),
                "w_scale": (kind, [2, 2, width], scale_bytes(kind, scales3)),
                "w_shape": ("I64", [3], struct.pack("<3q", 2, height, width))}
        check(name + " down columns", slab, [2, height, width],
              [f32(numbers[codes3[(o * down + i) * width + j]] *
                   scale_number(kind, scales3[(o * 2 + i // length) * width + j]))
               for o in range(2) for i in range(height) for j in range(width)], told(name))


INTEGERS = {"I8": (8, True), "U8": (8, False), "I16": (16, True), "U16": (16, False)}


def integers():
    for shape in ([6, 32], [40], [3, 4, 20], [2, 64, 5, 3]):
        places = list(itertools.product(*(range(n) for n in shape)))
        for dtype, (bits, signed) in INTEGERS.items():
            low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
            codes = [RANDOM.randint(low, high) for _ in places]
            form = {"I8": "b", "U8": "B", "I16": "h", "U16": "H"}[dtype]
            raw = struct.pack("<%d%s" % (len(codes), form), *codes)
            for some, find in scale_shapes(shape):
                count = math.prod(some)
                scales = [f32(RANDOM.uniform(0.001, 3)) for _ in range(count)]
                zeros = [RANDOM.randint(low, high) for _ in range(count)] if RANDOM.random() < 0.6 else None
                tensors = {"w": (dtype, shape, raw), "w_scale": ("F32", some, struct.pack("<%df" % count, *scales))}
                if zeros:
                    tensors["w_zero_point"] = (dtype, some, struct.pack("<%d%s" % (count, form), *zeros))
                said = ["--bits", "8"] if dtype == "U8" and not zeros else []
                said += ["--block", "20"] if some == [2] and shape == [40] else []    # or 32 and a short one
                check("%s %s, scales %s" % (dtype, shape, some), tensors, shape,
                      [f32((c - (zeros[find(at)] if zeros else 0)) * scales[find(at)])
                       for c, at in zip(codes, places)], words_more=said)


def in_words():
    """int4 and others in 32-bit words, with zero points packed down the rows."""
    for bits, rows, columns, group in itertools.product((4, 2, 8), (1, 19), (40, 104), (None, 8)):
        middle = 1 << (bits - 1)
        codes = [[RANDOM.randrange(1 << bits) for _ in range(columns)] for _ in range(rows)]
        groups = columns // group if group else 1
        scales = [[f32(RANDOM.uniform(0.01, 2)) for _ in range(groups)] for _ in range(rows)]
        zeros = [[RANDOM.randrange(1 << bits) for _ in range(groups)] for _ in range(rows)]
        raw = words(codes, bits)
        tensors = {"w_packed": ("I32", [rows, len(raw) // 4 // rows], raw),
                   "w_scale": ("F32", [rows, groups], struct.pack("<%df" % (rows * groups), *sum(scales, []))),
                   "w_shape": ("I64", [2], struct.pack("<2q", rows, columns))}
        what = "%d bits in words, %d x %d, groups of %s" % (bits, rows, columns, group)
        said = ["--bits", "8"] if bits == 8 else []    # 7 bits, four per word, would look the same
        check(what, tensors, [rows, columns], [f32((codes[i][j] - middle) * scales[i][j // (columns // groups)])
                                               for i in range(rows) for j in range(columns)], words_more=said)
        packed = words([[zeros[i][g] for i in range(rows)] for g in range(groups)], bits)
        deep = len(packed) // 4 // groups
        turned = b"".join(packed[4 * (g * deep + i):][:4] for i in range(deep) for g in range(groups))
        tensors["w_zero_point"] = ("I32", [deep, groups], turned)
        check(what + ", zero points", tensors, [rows, columns],
              [f32((codes[i][j] - zeros[i][j // (columns // groups)]) * scales[i][j // (columns // groups)])
               for i in range(rows) for j in range(columns)], words_more=said)


def scaled_floats():
    for dtype, table in (("F8_E4M3", E4M3), ("F8_E5M2", E5M2)):
        codes = [c for c in range(256)] * 6
        for kind, some, find in (("F32", [1], lambda i, j: 0), ("BF16", [6, 1], lambda i, j: i),
                                 ("F16", [6, 4], lambda i, j: i * 4 + j // 64), ("F32", [1, 256], lambda i, j: j)):
            count = math.prod(some)
            raw = [RANDOM.randrange(0x3000, 0x4800) for _ in range(count)] if kind != "F32" else \
                [bits_of(RANDOM.uniform(0.01, 500)) for _ in range(count)]
            scales = [struct.unpack("<f", struct.pack("<I", r << 16 if kind == "BF16" else r))[0] if kind != "F16" else
                      half(r) for r in raw]
            tensors = {"w": (dtype, [6, 256], bytes(codes)),
                       "w_scale": (kind, some, struct.pack("<%d%s" % (count, "I" if kind == "F32" else "H"), *raw))}
            check("%s, %s scales %s" % (dtype, kind, some), tensors, [6, 256],
                  [f32(table[codes[i * 256 + j]] * scales[find(i, j)]) for i in range(6) for j in range(256)])
        # rectangles of 128 x 128, named the other way round
        rows, columns = 200, 260
        codes = [RANDOM.randrange(0x7c) | RANDOM.getrandbits(1) << 7 for _ in range(rows * columns)]
        scales = [f32(RANDOM.uniform(0.01, 2)) for _ in range(2 * 3)]
        for suffix in ("_scale_inv", "_scale"):
            check(dtype + " in rectangles" + suffix,
                  {"w": (dtype, [rows, columns], bytes(codes)),
                   "w" + suffix: ("F32", [2, 3], struct.pack("<6f", *scales))}, [rows, columns],
                  [f32(table[codes[i * columns + j]] * scales[i // 128 * 3 + j // 128])
                   for i in range(rows) for j in range(columns)], words_more=["--block", "128"])


GGML = {"q8_0": 8, "q4_0": 2, "mxfp4": 39, "nvfp4": 40}


def gguf():
    for big in (False, True):
        tensors, want = {}, {}
        for name, kind in GGML.items():
            length = 64 if name == "nvfp4" else 32
            raw, want[name] = gguf_blocks(RANDOM, name, 514, big)
            tensors[name] = (kind, [2, 257 * length], raw)
        write_gguf("in.gguf", tensors, big)
        report, _ = run("in.gguf", "fp32", "--dequant", "-o", "out.safetensors", "--force", "--json")
        report = json.loads(report)
        out = read_file("out.safetensors")
        for name in GGML:
            got, patterns = floats(out[name][2]), [bits_of(x) for x in want[name]]
            judge("%s of GGUF, big-endian %s" % (name, big), got == patterns, True)
            entry = next(t for t in report["tensors"] if t["name"] == name)
            judge("%s: what it was" % name, (entry["from"], entry["fate"], entry["nan"], entry["inf"]),
                  (name, "dequantized", sum(x != x for x in want[name]), sum(math.isinf(x) for x in want[name])))
        ask("compare", "in.gguf", "out.safetensors")
    a, want_a = gguf_blocks(RANDOM, "nvfp4", 6, False, f32(0.037))
    b, want_b = gguf_blocks(RANDOM, "nvfp4", 3, False, f32(7.1))
    write_gguf("in.gguf", {"a.weight": (40, [3, 128], a), "a.scale": (0, [1], struct.pack("<f", 0.037)),
                           "b.weight": (40, [1, 3, 64], b), "b.weight.scale": (0, [1], struct.pack("<f", 7.1)),
                           "a.input_scale": (0, [1], struct.pack("<f", 1.5))})
    run("in.gguf", "fp32", "--dequant", "-o", "out.safetensors", "--force", "-q")
    out = read_file("out.safetensors")
    judge("tensor scales of GGUF", [sorted(out), floats(out["a.weight"][2]), floats(out["b.weight"][2])],
          [["a.input_scale", "a.weight", "b.weight"], [bits_of(x) for x in want_a], [bits_of(x) for x in want_b]])
    ask("compare", "in.gguf", "out.safetensors")
    memory = json.loads(ask("mem", "in.gguf", "--json"))
    judge("scales between codes", (memory["elements"], memory["sizes"][0]["scale_bytes"]),
          (384 + 192 + 1, (384 + 192) // 16 + 8))


def arrays():
    codes = [RANDOM.randint(-128, 127) for _ in range(600)]
    npy("w.npy", "|i1", [20, 30], struct.pack("<600b", *codes))
    npy("w_scale.npy", ">f4", [20, 1], struct.pack(">20f", *(i / 7 + 1 for i in range(20))))
    run("w.npy", "fp32", "--dequant", "-o", "out.npy", "-q")
    with open("out.npy", "rb") as file:
        got = floats(file.read()[-2400:])
    ask("compare", "w.npy", "out.npy")
    judge("npy", got, [bits_of(f32(c * f32(i // 30 / 7 + 1))) for i, c in enumerate(codes)])


def narrow():
    """Casts to a narrower dtype: two roundings, both reported."""
    write_file("in.safetensors", {"w": ("I8", [2], struct.pack("<2b", 127, -3)),
                                  "w_scale": ("F32", [1], struct.pack("<f", 1000.0)),
                                  "norm": ("F32", [1], struct.pack("<f", 1 / 3)), "ids": ("I64", [1], bytes(8))})
    report, _ = run("in.safetensors", "fp16", "--dequant", "-o", "out.safetensors", "--force", "--json")
    report = json.loads(report)
    out = read_file("out.safetensors")
    judge("to fp16", (out["w"][0], struct.unpack("<2H", out["w"][2]), out["norm"][0], out["ids"][0]),
          ("F16", (0x7c00, 0xe9dc), "F16", "I64"))
    judge("its report", (report["totals"]["dequantized"], report["totals"]["cast"], report["totals"]["kept"],
                         report["totals"]["loss"]["overflowed"]), (1, 1, 1, 1))
    run("in.safetensors", "fp16", "--dequant", "-o", "out.safetensors", "--force", "-q", "--fail-on", "clipped", code=1)
    run("in.safetensors", "fp16", "--dequant", "-o", "out.safetensors", "--force", "-q", "--fail-on", "special")


def kept():
    tensors = {"a": ("I8", [4], bytes(4)), "a_scale": ("F32", [1], struct.pack("<f", 1)),
               "b": ("I8", [4], bytes(4)), "b_scale": ("F32", [1], struct.pack("<f", 1)),
               "x.input_scale": ("F32", [1], struct.pack("<f", 1)), "logit_scale": ("F32", [1], struct.pack("<f", 1))}
    write_file("in.safetensors", tensors)
    for option, names in ((["--keep", "a"], "a"), (["--only", "b"], "a"), (["--keep", "a_*"], "a")):
        _, said = run("in.safetensors", "bf16", "--dequant", "-o", "out.safetensors", "--force", *option)
        out = {name: dtype for name, (dtype, _, _) in read_file("out.safetensors").items()}
        want = {"a": "I8", "a_scale": "F32", "b": "BF16", "x.input_scale": "F32",
                "logit_scale": "BF16" if option[0] == "--keep" else "F32"}
        judge("%s" % option, (out, said), (want, ""))


def refused():
    """Meaningless and ambiguous files: one error line that names a tensor."""
    i8, one = ("I8", [4, 6], bytes(24)), ("F32", [1], struct.pack("<f", 1))
    cases = [
        ("'a_packed': packed codes need a tensor '..._scale'", {"a_packed": ("U8", [4, 6], bytes(24))}),
        ("'a_scale': its shape [5] does not fit", {"a": i8, "a_scale": ("F32", [5], bytes(20))}),
        ("'a_scale': its shape [4, 4] does not fit", {"a": i8, "a_scale": ("F32", [4, 4], bytes(64))}),
        ("'a_scale': its shape [4, 6, 1] does not fit", {"a": i8, "a_scale": ("F32", [4, 6, 1], bytes(96))}),
        ("'a_scale': holds int64", {"a": i8, "a_scale": ("I64", [1], bytes(8))}),
        ("'a_zero_point': it has 2 elements of int8", {"a": i8, "a_scale": one, "a_zero_point": ("I8", [2], bytes(2))}),
        ("'a_zero_point': it has 1 elements of fp32", {"a": i8, "a_scale": one, "a_zero_point": one}),
        ("'a_zero_point': element 0 is 300", {"a": i8, "a_scale": one,
                                              "a_zero_point": ("I32", [1], struct.pack("<i", 300))}),
        ("'a_zero_point': fp8_e4m3fn codes have no", {"a": ("F8_E4M3", [4], bytes(4)), "a_scale": one,
                                                      "a_zero_point": ("I8", [1], bytes(1))}),
        ("'a_scale_inv': its shape [1, 2, 2] does not fit", {"a": ("I8", [4, 2, 2], bytes(16)),
                                                             "a_scale_inv": ("F32", [1, 2, 2], bytes(16))}),
        ("packed codes need a tensor '..._shape'", {"a_packed": ("I32", [4, 1], bytes(16)), "a_scale": one}),
        ("'a_scale': its shape [1] does not fit", {"a_packed": ("I32", [4, 1], bytes(16)), "a_scale": one,
                                                   "a_shape": ("I64", [2], struct.pack("<2q", 4, 33))}),
        ("'a_shape': expected the 2 dimensions", {"a_packed": ("I32", [4, 1], bytes(16)), "a_scale": one,
                                                        "a_shape": ("I64", [3], bytes(24))}),
        ("'a_scale': holds uint8", {"a": ("I16", [4], bytes(8)), "a_scale": ("U8", [4], bytes(4))}),
        ("'x.weight_scale': its codes are missing", {"x.weight_scale": one}),
        ("'a_global_scale': a tensor's scale must be a finite number above 0",
         {"a_packed": ("U8", [1, 8], bytes(8)), "a_scale": ("F8_E4M3", [1, 1], bytes(1)),
          "a_global_scale": ("F32", [1], bytes(4))}),
        ("'a_global_scale': expected one", {"a_packed": ("U8", [1, 8], bytes(8)),
                                                  "a_scale": ("F8_E4M3", [1, 1], bytes(1)),
                                                  "a_global_scale": ("F32", [2], bytes(8))}),
        ("of several layouts", {"a": ("U8", [1, 8], bytes(8)), "a_scale": ("F8_E4M3", [1, 1], bytes(1)),
                                "a_global_scale": one, "a_scale_2": one}),
        ("'a_g_idx': it has a group for each column", {"a": i8, "a_scale": one, "a_g_idx": ("I32", [6], bytes(24))}),
        ("'a' would be written twice", {"a": ("F32", [1], bytes(4)), "a_packed": ("U8", [1, 16], bytes(16)),
                         "a_scale": ("U8", [1, 1], bytes(1))}),
        ("no quantized tensors found", {"a": ("F32", [1], bytes(4))}),
    ]
    for words_wanted, tensors in cases:
        write_file("bad.safetensors", tensors)
        _, said = run("bad.safetensors", "fp32", "--dequant", "-o", "never.safetensors", code=3)
        judge("refusal: " + words_wanted, (words_wanted in said, said.count("\n")), (True, 1))
        if "zero_point': element" in words_wanted:
            ask("inspect", "bad.safetensors", "--stats", code=3)
            continue
        # inspect shows the parts and the reason; commands that read numbers fail
        file = json.loads(ask("inspect", "bad.safetensors", "--json"))["files"][0]
        shown = [t["name"] for t in file["tensors"]]
        whole = "no quantized tensors" in words_wanted or "twice" in words_wanted
        ask("inspect", "bad.safetensors", "--stats", code=0 if whole else 3)
        if whole:
            judge("nothing is said: " + words_wanted, file["notes"], [])
            continue
        judge("shown as stored: " + words_wanted, (sorted(shown), [words_wanted in n["message"] for n in file["notes"]]),
              (sorted(tensors), [True]))
    judge("nothing was written", os.path.exists("never.safetensors"), False)
    write_gguf("bad.gguf", {"k": (43, [256], bytes(144)), "q": (8, [32], bytes(34))})
    _, said = run("bad.gguf", "fp32", "--dequant", "-o", "never.safetensors", code=3)
    judge("an unknown type", "'k' has a type that ggml does not define" in said and "--select" in said, True)
    run("bad.gguf", "fp32", "--dequant", "-o", "out.safetensors", "--force", "-q", "--select", "q")
    judge("the rest", list(read_file("out.safetensors")), ["q"])
    _, said = run("bad.gguf", "fp32", "--dequant", "-o", "never.safetensors", "--select", "q", "--keep", "q", code=2)
    judge("kept blocks", "has to be numbers" in said, True)
    _, said = run("bad.gguf", "int8", "--dequant", "-o", "never.safetensors", code=2)
    judge("no float", "--dequant makes floats" in said, True)
    _, said = run("bad.gguf", "bf16", "--dequant", "--pad", "-o", "never.safetensors", code=2)
    judge("options of the way there", "--pad is for quantizing" in said, True)


def filled():
    """One group longer than its axis, empty axes, and NaN scales, which all give the same NaN."""
    def shape_of(*shape):
        return ("I64", [len(shape)], struct.pack("<%dq" % len(shape), *shape))
    for shape, stored, some in (([2, 3], [8, 3], [1, 3]), ([2], [8], [1]), ([2, 1], [8, 1], [1, 1])):
        columns = math.prod(shape[1:])
        scales = [0.5 * (i + 1) for i in range(columns)]
        codes = list(range(1, 2 * columns + 1))
        check("one group, %s of %s" % (shape, stored),
              {"w": ("I8", stored, bytes(codes).ljust(math.prod(stored), b"\0")), "w_shape": shape_of(*shape),
               "w_scale": ("F32", some, struct.pack("<%df" % columns, *scales))}, shape,
              [c * scales[i % columns] for i, c in enumerate(codes)])
    nothing = ("U8", [5, 0], b"")
    check("no groups", {"w": ("U8", [5, 0], b""), "w_scale": ("F32", [5, 0], b"")}, [5, 0], [])
    check("no blocks", {"w_packed": nothing, "w_scale": nothing}, [5, 0], [])
    check("no rows in blocks", {"w_packed": ("U8", [32, 0], b""), "w_scale": ("U8", [1, 0], b""),
                                "w_shape": shape_of(5, 0)}, [5, 0], [])
    raw = struct.pack("<3I", 0x7f800000, 0xffc12345, 0x3f800000)
    for some in ([3, 1], [1, 3]):
        write_file("in.safetensors", {"w": ("I8", [3, 3], bytes(9)), "w_scale": ("F32", some, raw)})
        run("in.safetensors", "fp32", "--dequant", "-o", "out.safetensors", "--force", "-q")
        got = sorted(set(struct.unpack("<9I", read_file("out.safetensors")["w"][2])))
        judge("NaNs of scales %s" % some, got, [0, 0x7fc00000])


run_parts((all_pairs, odd_blocks, integers, in_words, filled, scaled_floats, gguf, arrays, narrow, kept, refused))
