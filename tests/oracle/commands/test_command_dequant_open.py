#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Quantized files that are ambiguous by names, dtypes and shapes: refused until options, metadata or a configuration
next to them decide; configurations of all kinds; and shards that describe their own tensors.

usage: test_command_dequant_open.py DTINFO
"""
import json
import os
import struct
import subprocess

from quant_check import PROGRAM, RANDOM, check, judge, numbers_of, run, run_parts
from dequant_files import BLOCKS, bits_of, floats, pack, read_file, words, write_file


def open_shapes():
    """Ambiguous dtypes and shapes are refused until metadata, an option or config.json decides."""
    def ask(what, tensors, wanted, shape, readings):
        write_file("in.safetensors", tensors)
        _, said = run("in.safetensors", "fp32", "--dequant", "-o", "never.safetensors", code=3)
        judge(what + ": what is said", (wanted in said, said.count("\n")), (True, 1))
        for more, metadata, want in readings:
            check("%s, %s %s" % (what, more, metadata), tensors, shape, want, metadata, more)

    def one(bits):
        return {"dtinfo.quant.w": bits}
    raw = bytes([0x21, 0x43, 0x05, 0])
    in_word = {"w_packed": ("I32", [1, 1], raw), "w_scale": ("F32", [1], struct.pack("<f", 0.5)),
               "w_shape": ("I64", [2], struct.pack("<2q", 1, 3))}
    of4, of2, of8 = [-3.5, -3.0, -2.5], [-0.5, -1.0, 0.0], [-47.5, -30.5, -61.5]
    ask("3 codes in a word", in_word, "codes of 1, 2, 3, 4, 5, 6, 7 or 8 bits", [1, 3],
        [(["--bits", "4"], None, of4), ([], one("int2 low"), of2), ([], one("int4 low"), of4),
         (["--bits", "8"], None, of8)])
    groups = {"w_packed": ("I32", [2, 8], b"\x99" * 64), "w_scale": ("F32", [2, 2], struct.pack("<4f", 0.5, 2, 4, 8)),
              "w_shape": ("I64", [2], struct.pack("<2q", 2, 62))}

    def by(n):
        return [x for a, b in ((0.5, 2.0), (4.0, 8.0)) for x in [a] * n + [b] * (62 - n)]
    ask("groups of 31 or 32", groups, "allows groups of 31 or 32 elements along axis 1", [2, 62],
        [(["--block", "31"], None, by(31)), (["--block", "32"], None, by(32)), ([], one("int4 low 32"), by(32)),
         ([], one("int4 low 31"), by(31))])
    write_file("in.safetensors", groups, {"dtinfo.quant.w": "int4 low 24"})
    _, said = run("in.safetensors", "fp32", "--dequant", "-o", "never.safetensors", code=3)
    judge("groups of 24", "'w_scale': its shape [2, 2]" in said, True)
    ask("a byte a code", {"w": ("U8", [2, 2], bytes([1, 2, 3, 4])), "w_scale": ("F32", [1], struct.pack("<f", 0.5))},
        "may hold uint8 or several narrower codes a byte", [2, 2], [(["--bits", "8"], None, [0.5, 1.0, 1.5, 2.0])])
    # float scales for 128 or 100 rows: Y.scale of Y.weight
    codes = [0x38] * 200
    name = {"w.weight": ("F8_E4M3", [200, 1], bytes(codes)), "w.scale": ("F32", [2, 1], struct.pack("<2f", 1, 2))}
    write_file("in.safetensors", name)
    _, said = run("in.safetensors", "fp32", "--dequant", "-o", "never.safetensors", code=3)
    judge("rectangles", "allows groups of 128 or 100 elements along axis 0" in said, True)
    _, _, raw = numbers_of("rectangles of 100", "out.safetensors", name, None, ["--block", "100"], "w.weight")
    judge("rectangles of 100", struct.unpack("<200f", raw), (1.0,) * 100 + (2.0,) * 100)


def configured():
    """config.json next to the file, or in the folder of shards."""
    def config(groups, form="pack-quantized", **more):
        return {"quantization_config": dict({"quant_method": "compressed-tensors", "format": form, "config_groups": groups},
                                            **more)}

    def weights(**arguments):
        return {"targets": ["Linear"], "weights": arguments}

    def with_config(text, code=0, *more):
        with open("config.json", "w") as file:
            file.write(text if isinstance(text, str) else json.dumps(text))
        _, said = run("in.safetensors", "fp32", "--dequant", "-o", "out.safetensors", "--force", "-q", *more, code=code)
        judge("one line about %s" % (text,), said.count("\n"), 1 if code else 0)
        os.remove("config.json")
        return said if code else list(struct.unpack("<%df" % want, read_file("out.safetensors")["w.weight"][2]))
    want = 512
    codes = [[RANDOM.randrange(256) for _ in range(128)] for _ in range(4)]
    raw = words(codes, 8)
    tensors = {"w.weight_packed": ("I32", [4, 32], raw), "w.weight_scale": ("F32", [4, 1], struct.pack("<4f", 1, 2, 4, 8)),
               "w.weight_shape": ("I64", [2], struct.pack("<2q", 4, 128))}
    write_file("in.safetensors", tensors)
    numbers = [(c - 128.0) * 2.0 ** i for i, row in enumerate(codes) for c in row]
    group8, group4 = weights(num_bits=8, type="int", strategy="channel"), weights(num_bits=4, type="int", group_size=128)
    for text in (config({"group_0": group8}), config({"a": group4, "b": group8}),
                 {"text_config": config({"group_0": group8})}, {"compression_config": config({"g": group8})["quantization_config"]},
                 dict(config({"group_0": group8}), compression_config=None, quantization=7)):
        judge("8 bits by %s" % text, with_config(text), numbers)
    for text, more in (({"model_type": "x"}, []), ("{", ["--bits", "8"]), (config({"g": group4}), ["--bits", "8"])):
        if more:
            judge("8 bits by the option", with_config(text, 0, *more), numbers)
        else:
            judge("nothing is said", "codes of 7 or 8 bits" in with_config(text, 3), True)
    for text, wanted in ((config({"g": group4}), "contradicts config.json: num_bits 4, type int, strategy group, group_size 128"),
                         (config({"g": weights(num_bits=8, group_size=64)}), "contradicts config.json: num_bits 8"),
                         (config({"g": weights(num_bits=8, type="float", strategy="channel")}), "contradicts config.json"),
                         (config({"g": weights(num_bits=8, symmetric=False, strategy="channel")}), "says symmetric false"),
                         (config({"g": group8}, "marlin-24"), "format is 'marlin-24', which is not supported"),
                         (config({"g": weights(num_bits="8")}), "its \"num_bits\" is not a count"),
                         ("{\"quantization_config\": {\"format\": \"a\",}}", "config.json' is not JSON"),
                         ("{\"a\": " + "[" * 200, "config.json' is not JSON: "), ("[]", "config.json' is not a JSON object"),
                         (config({str(i): weights(num_bits=4, group_size=i + 1) for i in range(40)}), "have more than 32 schemes"),
                         ("{\"a\": \"" + "x" * (17 << 20) + "\"}", "a configuration may have at most")):
        said = with_config(text, 3)
        judge("refusal: " + wanted, wanted in said, True)
    os.mkfifo("config.json")
    _, said = run("in.safetensors", "fp32", "--dequant", "-o", "never.safetensors", code=3)
    judge("a pipe", "config.json" in said, True)
    os.remove("config.json")
    os.mkdir("shards")
    write_file("shards/model-00001-of-00001.safetensors", tensors)
    with open("shards/model.safetensors.index.json", "w") as file:
        json.dump({"metadata": {}, "weight_map": {name: "model-00001-of-00001.safetensors" for name in tensors}}, file)
    with open("shards/config.json", "w") as file:
        json.dump(config({"group_0": group8}), file)
    for at in ("shards", "shards/", "shards/model.safetensors.index.json"):
        report, _ = run(at, "fp32", "--dequant", "-o", "out.safetensors", "--force", "--as", "safetensors", "--json")
        judge("config in %s" % at, (json.loads(report)["config"], json.loads(report)["totals"]["dequantized"]), ("config.json", 1))


def shards():
    """Each shard describes its own tensors, and so does each written shard."""
    os.mkdir("told")
    codes = {i: [RANDOM.randrange(64) for _ in range(64)] for i in (1, 2)}
    for i in (1, 2):
        write_file("told/m-%d.safetensors" % i,
                   {"w%d_packed" % i: ("U8", [2, 24], pack(codes[i], 6)), "w%d_scale" % i: ("U8", [2, 1], bytes([127, 128])),
                    "n%d" % i: ("F32", [1], struct.pack("<f", 0.5))},
                   {"format": "pt", "dtinfo.quant.w%d" % i: "mxfp6_e3m2 low"})
    with open("told/model.safetensors.index.json", "w") as file:
        json.dump({"metadata": {}, "weight_map": {name % i: "m-%d.safetensors" % i for i in (1, 2)
                                                  for name in ("w%d_packed", "w%d_scale", "n%d")}}, file)

    def look(folder):
        run(folder, "fp32", "--dequant", "-o", "numbers", "--force", "-q")
        for i in (1, 2):
            got = floats(read_file("numbers/m-%d.safetensors" % i)["w%d" % i][2])
            judge("%s: shard %d" % (folder, i), got, [bits_of(BLOCKS["mxfp6_e3m2"][0][c] * (1 if k < 32 else 2))
                                                      for k, c in enumerate(codes[i])])

    def keys(path):
        with open(path, "rb") as file:
            length = struct.unpack("<Q", file.read(8))[0]
            return json.loads(file.read(length)).get("__metadata__", {})
    look("told")
    subprocess.run([PROGRAM, "cast", "told", "bf16", "-o", "cast", "-q"], check=True)
    run("told", "int8", "-o", "quantized", "-q")
    for folder in ("cast", "quantized"):
        look(folder)
        for i in (1, 2):
            judge("%s: metadata of shard %d" % (folder, i), keys("%s/m-%d.safetensors" % (folder, i)),
                  {"format": "pt", "dtinfo.quant.w%d" % i: "mxfp6_e3m2 low"})


def own():
    """What quant writes for a row or a column reads back: shapes alone leave the group length ambiguous."""
    for shape in ([1, 192], [192, 1], [1, 320], [2, 192]):
        count, axis = shape[0] * shape[1], "0" if shape[1] == 1 else "1"
        for target in (["q8_0"], ["int8", "--block", "32"]):
            numbers = struct.pack("<%df" % count, *(RANDOM.gauss(0, 1) for _ in range(count)))
            write_file("in.safetensors", {"w": ("F32", shape, numbers)})
            run("in.safetensors", *target, "--axis", axis, "-o", "own.safetensors", "--force", "-q")
            parts = read_file("own.safetensors")
            kind, _, raw = parts["w_scale"]
            scales = struct.unpack("<%d%s" % (count // 32, "e" if kind == "F16" else "f"), raw)
            run("own.safetensors", "fp64", "--dequant", "-o", "back.safetensors", "--force", "-q")
            got = struct.unpack("<%dd" % count, read_file("back.safetensors")["w"][2])
            judge("%s of %s" % (target, shape), got,
                  tuple(struct.unpack("<f", struct.pack("<f", code * scales[i // 32]))[0]
                        for i, code in enumerate(struct.unpack("<%db" % count, parts["w"][2]))))


run_parts((open_shapes, configured, shards, own))
