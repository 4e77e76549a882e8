#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""inspect --saturation: codes and scales at their limits, counted by numpy in the stored bytes.

dtinfo quantizes, then random bytes replace the codes and the scales, with many at the limits and blocks of zeros; GGUF
files are written by gguf-py.

usage: test_saturation.py DTINFO
"""
import json
import struct
import sys

import harness

np, gguf = harness.have("numpy"), harness.have("gguf")
if np is None or gguf is None:
    print("skipped: needs numpy and gguf")
    sys.exit(77)

from layout_files import tiles

DTINFO = harness.Program(sys.argv[1])
require, run = DTINFO.require, DTINFO.run
RANDOM = np.random.default_rng(7)
# largest magnitude, mask of the magnitude, bits of a code
FLOATS = {"fp4_e2m1": (7, 7, 4), "fp6_e2m3": (31, 31, 6), "fp6_e3m2": (31, 31, 6), "fp8_e4m3fn": (0x7e, 0x7f, 8), "fp8_e5m2": (0x7b, 0x7f, 8)}
BLOCKS = {"mxfp4": ("fp4_e2m1", 32), "nvfp4": ("fp4_e2m1", 16), "mxfp6_e2m3": ("fp6_e2m3", 32), "mxfp6_e3m2": ("fp6_e3m2", 32),
          "mxfp8_e4m3": ("fp8_e4m3fn", 32), "mxfp8_e5m2": ("fp8_e5m2", 32), "mxint8": ("int8", 32)}


def read(path):
    with open(path, "rb") as file:
        head = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    return head, {name: bytearray(data[slice(*entry["data_offsets"])]) for name, entry in head.items() if name != "__metadata__"}


def write(path, head, parts):
    text = json.dumps(head).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(parts[name] for name in head if name != "__metadata__"))


def unpack(raw, bits, high, rows):
    """Codes, one in a byte, in the order of the elements; rows begin at bytes."""
    if bits == 8:
        return np.frombuffer(bytes(raw), "u1").reshape(rows, -1)
    places = np.unpackbits(np.frombuffer(bytes(raw), "u1").reshape(rows, -1), axis=1, bitorder="big" if high else "little")
    places = places[:, :places.shape[1] // bits * bits].reshape(rows, -1, bits)
    weights = 1 << np.arange(bits)
    return (places * (weights[::-1] if high else weights)).sum(2).astype("u1")


def counts(codes, number, length):
    """codes: in a matrix; what is expected of them."""
    if number in FLOATS:
        largest, mask, _ = FLOATS[number]
        at, zero = (codes & mask) == largest, (codes & mask) == 0
    else:
        values = codes.astype("i1").astype(int) if number == "int8" else codes.astype(int) - 8
        at, zero = np.abs(values) >= (127 if number == "int8" else 7), values == 0
        if number == "uint4":
            at = (codes == 0) | (codes == 15)
    want = {"codes": codes.size, "at_largest": int(at.sum()), "blocks": None, "zero_blocks": None}
    if length:
        pieces = [zero[:, i:i + length].all(1) for i in range(0, codes.shape[1], length)]
        want["blocks"], want["zero_blocks"] = codes.shape[0] * len(pieces), int(sum(piece.sum() for piece in pieces))
    return want


def scales_of(raw, kind):
    if kind is None:
        return {"scales": None, "scales_lowest": None, "scales_highest": None, "scales_nan": None}
    codes = np.frombuffer(bytes(raw), "u1")
    size = codes if kind == "e8m0" else codes & 0x7f
    top = 254 if kind == "e8m0" else 0x7e
    return {"scales": codes.size, "scales_lowest": int((size == 0).sum()), "scales_highest": int((size == top).sum()),
            "scales_nan": int((size == top + 1).sum())}


def noise(size, extremes):
    """Bytes, a third of them extremes."""
    made = RANDOM.integers(0, 256, size, "u1")
    return np.where(RANDOM.random(size) < 0.33, RANDOM.choice(np.array(extremes, "u1"), size), made)


def judge(path, name, want, what, *words):
    for threads in ("1", "all"):
        answer = json.loads(run("inspect", path, "--saturation", "--json", "--threads", threads, *words)[0])["files"][0]
        tensor = next(t for t in answer["tensors"] if t["name"] == name)
        require(tensor["saturation"] == want, what, tensor["saturation"], want)
        total = [entry for entry in answer["saturation"] if entry["dtype"] == tensor["quantized"]["format"]]
        require(len(total) == 1 and total[0]["at_largest"] >= want["at_largest"], what, "sums", total)


def write_plain(shape):
    data = RANDOM.normal(0, 1, shape).astype("<f4").tobytes()
    head = {"m.weight": {"dtype": "F32", "shape": list(shape), "data_offsets": [0, len(data)]}}
    write("plain.safetensors", head, {"m.weight": data})


def blocks():
    cases = [(name, shape, words) for name in BLOCKS for shape in ((48, 128), (3, 32768 + 64), (5, 4, 64)) for words in ((), )]
    cases += [("mxfp4", (16, 128), ("--packing", "high")), ("nvfp4", (16, 128), ("--layout", "modelopt")), ("mxfp4", (7, 100), ("--pad",)),
              ("nvfp4", (7, 100), ("--pad",)), ("mxfp4", (1, 32), ())]
    for name, shape, words in cases:
        number, length = BLOCKS[name]
        write_plain(shape)
        run("quant", "plain.safetensors", name, "-o", "q.safetensors", "-q", "--force", *words)
        head, parts = read("q.safetensors")
        bits = FLOATS[number][2] if number in FLOATS else 8
        part = next(p for p in parts if p.endswith(("weight", "weight_packed")))
        scale = next(p for p in parts if p.endswith("weight_scale"))
        rows, columns = int(np.prod(shape[:-1])), shape[-1]
        extremes = [0, 0x80, 0x7e, 0xfe, 0x77, 0xf7, 0x7f, 0x81, 0x7b, 0xff]
        raw = noise(len(parts[part]), extremes)
        for at in RANDOM.integers(0, max(1, raw.size - length), 20):
            raw[at // length * length:at // length * length + length * bits // 8] &= 0x88 if bits == 4 else 0
        parts[part] = raw.tobytes()
        kind = "e4m3" if name == "nvfp4" else "e8m0"
        parts[scale] = noise(len(parts[scale]), [0, 254, 255, 0x7e, 0x7f]).tobytes()
        write("q.safetensors", head, parts)
        codes = unpack(parts[part], bits, "high" in words, rows)
        codes = codes[:, :columns]  # without padding
        want = counts(codes, number, length) | scales_of(parts[scale], kind)
        more = words if "--packing" in words else ()
        judge("q.safetensors", "m.weight", want, (name, shape, words), *more)
    print("blocks:", DTINFO.checks, "checks")


def others():
    for words, number in ((("fp8_e4m3fn",), "fp8_e4m3fn"), (("fp8_e5m2", "--per", "channel"), "fp8_e5m2"),
                          (("int8", "--per", "channel"), "int8"), (("int8", "--block", "32"), "int8")):
        write_plain((40, 64))
        run("quant", "plain.safetensors", *words, "-o", "q.safetensors", "-q", "--force")
        head, parts = read("q.safetensors")
        part = next(p for p in parts if p.endswith("weight"))
        parts[part] = noise(len(parts[part]), [0, 0x80, 0x7e, 0xfe, 0x7b, 0x7f, 0x81]).tobytes()
        write("q.safetensors", head, parts)
        codes = unpack(parts[part], 8, False, 40)
        judge("q.safetensors", "m.weight", counts(codes, number, 0) | scales_of(b"", None), words)
    for dtype, more in (("int4", ()), ("uint4", ("--affine",))):
        write_plain((40, 64))
        run("quant", "plain.safetensors", dtype, "--block", "32", *more, "-o", "q.safetensors", "-q", "--force")
        head, parts = read("q.safetensors")
        part = next(p for p in parts if p.endswith("weight_packed"))
        parts[part] = noise(len(parts[part]), [0, 0x0f, 0xf0, 0x78, 0x18]).tobytes()
        write("q.safetensors", head, parts)
        codes = unpack(parts[part], 4, False, 40)
        judge("q.safetensors", "m.weight", counts(codes, dtype, 0) | scales_of(b"", None), dtype)
    print("codes with other scales:", DTINFO.checks, "checks")


def tiled():
    """ComfyUI's: scales in tiles of 128 x 4, whose padding does not count."""
    for rows, columns in ((1, 16), (144, 80), (300, 1040)):
        codes = noise(rows * columns // 2, [0x77, 0xf7, 0, 0x88]).reshape(rows, -1)
        scale = noise(rows * columns // 16, [0, 0x7e, 0x7f]).reshape(rows, -1) & 0x7f
        form = json.dumps({"format": "nvfp4"}).encode()
        parts = {"l.weight": codes.tobytes(), "l.weight_scale": tiles(scale).tobytes(), "l.weight_scale_2": struct.pack("<f", 0.5), "l.comfy_quant": form}
        shapes = {"l.weight": ("U8", list(codes.shape)), "l.weight_scale": ("F8_E4M3", list(tiles(scale).shape)), "l.weight_scale_2": ("F32", []),
                  "l.comfy_quant": ("U8", [len(form)])}
        head, at = {}, 0
        for name, data in parts.items():
            head[name] = {"dtype": shapes[name][0], "shape": shapes[name][1], "data_offsets": [at, at + len(data)]}
            at += len(data)
        write("q.safetensors", head, parts)
        want = counts(unpack(codes.tobytes(), 4, True, rows), "fp4_e2m1", 16) | scales_of(scale.tobytes(), "e4m3")
        judge("q.safetensors", "l.weight", want, "tiled %d x %d" % (rows, columns))
    print("tiled:", DTINFO.checks, "checks")


def ggufs():
    writer = gguf.GGUFWriter("m.gguf", "llama")
    types = gguf.GGMLQuantizationType
    raw = {"mx": noise(32 * 4 * 17, [0, 254, 255, 0x77, 0x07, 0x88]).reshape(32, 4, 17), "nv": noise(16 * 3 * 36, [0, 0x7e, 0x7f, 0x77, 0x88]).reshape(16, 3, 36)}
    raw["mx"][3, 1, 1:], raw["mx"][3, 2, 1:] = 0x88, 0
    raw["nv"][2, 1, 4:12] = 0
    writer.add_tensor("mx", raw["mx"].reshape(32, -1), raw_dtype=types.MXFP4)
    writer.add_tensor("nv", raw["nv"].reshape(16, -1), raw_dtype=types.NVFP4)
    writer.add_tensor("q8", gguf.quants.quantize(np.ones((4, 64), "f4"), types.Q8_0), raw_dtype=types.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    mx, nv = raw["mx"].reshape(-1, 17), raw["nv"].reshape(-1, 36)
    judge("m.gguf", "mx", counts(unpack(mx[:, 1:].tobytes(), 4, False, len(mx)), "fp4_e2m1", 32) | scales_of(mx[:, 0].tobytes(), "e8m0"), "mxfp4")
    judge("m.gguf", "nv", counts(unpack(nv[:, 4:].tobytes(), 4, False, len(nv) * 4), "fp4_e2m1", 16) | scales_of(nv[:, :4].tobytes(), "e4m3"), "nvfp4")
    answer = json.loads(run("inspect", "m.gguf", "--saturation", "--json")[0])["files"][0]
    require(next(t for t in answer["tensors"] if t["name"] == "q8")["saturation"] is None, "q8_0")
    print("GGUF:", DTINFO.checks, "checks")


harness.in_new_folder(blocks, others, tiled, ggufs)
print(DTINFO.checks, "checks, 0 different")
