#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What quant writes as GGUF blocks, against gguf-py and ggml's own C code: every supported type, from numbers and from
other blocks, with any number of threads; which tensors are quantized, the metadata, and what is refused.

The bytes are those of gguf.quants.quantize() or, for types that the package lacks, of ggml's C code;
test_ggml_encode.py explains which library.

usage: test_gguf_quant.py DTINFO
"""
import ctypes
import json
import os
import re
import struct
import sys

import harness
from harness import bytes_of

gguf, numpy = harness.have("gguf"), harness.have("numpy")
if gguf is None or numpy is None:
    print("skipped: needs gguf and numpy")
    sys.exit(77)

DTINFO = harness.Program(sys.argv[1])
require, run = DTINFO.require, DTINFO.run
RANDOM = numpy.random.default_rng(12)
TYPES = gguf.GGMLQuantizationType
LIBRARY = harness.ggml_library()
without = []
# llama.h, enum llama_ftype: of mixtures the one called M
FILE_TYPES = {"F32": 0, "F16": 1, "Q4_0": 2, "Q4_1": 3, "Q8_0": 7, "Q5_0": 8, "Q5_1": 9, "Q2_K": 10, "Q3_K": 12,
              "Q4_K": 15, "Q5_K": 17, "Q6_K": 18, "IQ4_NL": 25, "IQ4_XS": 30, "BF16": 32, "TQ1_0": 36, "TQ2_0": 37,
              "MXFP4": 38, "Q1_0": 40, "Q2_0": 41}


def write(path, tensors, pairs=(("general.file_type", 1), ("general.quantization_version", 2)), big=False):
    """tensors: name -> array, or (type, shape, bytes)."""
    writer = gguf.GGUFWriter(path, "llama", endianess=gguf.GGUFEndian.BIG if big else gguf.GGUFEndian.LITTLE)
    writer.add_array("tokenizer.ggml.tokens", ["a", "b\u00e9", "c" * 300])
    for key, value in pairs:
        writer.add_uint32(key, value)
    writer.add_float32("z.last", 0.1)
    for name, array in tensors.items():
        if isinstance(array, tuple):
            kind, shape, data = array
            rows = numpy.frombuffer(data, "u1").reshape(*shape[:-1], -1)
            writer.add_tensor(name, rows, raw_dtype=kind)
        else:
            writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def read(path):
    """name -> (type, shape, bytes); and the metadata."""
    reader = gguf.GGUFReader(path)
    tensors = {t.name: (t.tensor_type.name, tuple(int(n) for n in t.shape[::-1]), t.data.tobytes()) for t in reader.tensors}
    return tensors, {name: (field.types, [bytes(part) for part in field.parts])
                     for name, field in reader.fields.items() if not name.startswith("GGUF.")}


def number(fields, key):
    return struct.unpack("<I", fields[key][1][-1])[0] if key in fields else None


def encode(name, numbers):
    """By the package, or by ggml's C code; None: neither has the type."""
    kind = TYPES[name]
    try:
        return gguf.quants.quantize(numbers.astype("<f4"), kind).tobytes()
    except NotImplementedError:
        pass
    word = name.lower() if name.startswith("IQ") else "row_%s_ref" % name.lower().replace("_k", "_K")
    word = "quantize_" + word
    if LIBRARY is None or not hasattr(LIBRARY, word):
        return None
    length, size = gguf.GGML_QUANT_SIZES[kind]
    x = numpy.ascontiguousarray(numbers, "<f4")
    out = numpy.zeros(x.size // length * size, "u1")
    function = getattr(LIBRARY, word)
    function.restype = None
    places = [x.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p)]
    if word.endswith("_ref"):
        function(*places, ctypes.c_int64(x.size))
    else:
        function(*places, ctypes.c_int64(x.size // x.shape[-1]), ctypes.c_int64(x.shape[-1]), None)
    return out.tobytes()


def offered():
    """The types that --help lists, but those that want weights: test_gguf_importance.py has them."""
    weighted = ("IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S")
    text = run("quant", "--help")[0]
    listed = re.search(r"\n  in gguf +((?:.*\n)(?: {11}.*\n)*)", text).group(1)
    words = [word.strip().upper() for word in listed.replace("\n", " ").split(",")]
    return [word for word in words if word not in weighted]


def model():
    """With tensors that llama-quantize quantizes, and others that it does not."""
    def some(*shape):
        return RANDOM.standard_normal(shape).astype("<f4") * numpy.float32(0.05)
    quantized = {"token_embd.weight": some(7, 512).astype("<f2"), "blk.0.attn_q.weight": some(256, 1024),
                 "blk.0.ffn_up_exps.weight": some(3, 5, 256), "output.weight": some(1, 256)}
    kept = {"blk.0.attn_norm.weight": some(256), "blk.0.ffn_gate_inp.weight": some(4, 256),
            "blk.0.attn_q_norm.weight": some(2, 256), "position_embd.weight": some(2, 256), "blk.0.x.bias": some(2, 256),
            "blk.0.ssm_conv1d.weight": some(4, 4), "ids": numpy.arange(8, dtype="<i4").reshape(2, 4)}
    return quantized, kept


def judge_types():
    quantized, kept = model()
    both = {**quantized, **kept}
    write("in.gguf", both)
    before, fields = read("in.gguf")
    for name in offered():
        if name == "NVFP4":   # judge_nvfp4()
            continue
        if not hasattr(TYPES, name):  # an older package cannot even read it
            without.append(name)
            continue
        run("quant", "in.gguf", name.lower(), "-o", "out.gguf", "--force", "-q", "--threads", 1)
        after, told = read("out.gguf")
        require(list(after) == list(both), name, list(after))
        for tensor in kept:
            require(after[tensor] == before[tensor], name, tensor, "is another")
        for tensor, array in quantized.items():
            want = encode(name, array)
            if want is None:
                without.append(name)
                continue
            require(after[tensor] == (name, array.shape, want), name, tensor, "is not what ggml makes")
        require(number(told, "general.file_type") == FILE_TYPES[name], name, told["general.file_type"])
        require({**told, "general.file_type": 0} == {**fields, "general.file_type": 0} and list(told) == list(fields), name)
        run("check", "out.gguf")
        run("quant", "out.gguf", name.lower(), "-o", "again.gguf", "--force", "-q")
        require(bytes_of("again.gguf") == bytes_of("out.gguf"), name, "our own output becomes another")
        for words in (["--threads", 2], ["--threads", 3, "--max-memory", "64KiB"]):
            run("quant", "in.gguf", name.lower(), "-o", "again.gguf", "--force", "-q", *words)
            require(bytes_of("again.gguf") == bytes_of("out.gguf"), name, words, "makes other bytes")


def nvfp4(numbers):
    """The bytes of blocks, and the scale of the tensor: amax / 2688; then fp8(amax of 16 / 6 / scale) and fp4(x / (fp8 x
    scale)), every operation rounded to fp32."""
    import ml_dtypes
    f4 = numpy.float32
    numbers = numbers.astype(f4)
    amax = numpy.abs(numbers).max()
    whole = f4(amax / f4(2688)) if amax else f4(1)
    groups = numbers.reshape(-1, 16)
    scales = numpy.minimum(numpy.abs(groups).max(1) / f4(6) / whole, f4(448)).astype(ml_dtypes.float8_e4m3fn)
    product = scales.astype(f4) * whole
    with numpy.errstate(all="ignore"):
        ratio = numpy.where(product[:, None] == 0, f4(0), groups / product[:, None])
    codes = numpy.clip(ratio, -6, 6).astype(ml_dtypes.float4_e2m1fn).view("u1") & 15
    codes[product == 0] = 0
    halves = (codes[:, :8] | codes[:, 8:] << 4).reshape(-1, 32)
    return numpy.concatenate([scales.view("u1").reshape(-1, 4), halves], 1).tobytes(), whole.tobytes()


def judge_nvfp4():
    if not harness.have("ml_dtypes"):
        without.append("NVFP4")
        return
    quantized, kept = model()
    quantized["minus.weight"] = -numpy.zeros((2, 64), "<f4")
    quantized["zero.weight"] = numpy.zeros((3, 64), "<f4")
    quantized["tiny.weight"] = RANDOM.standard_normal((5, 128)).astype("<f4") * numpy.float32(1e-39)
    quantized["wide.weight"] = numpy.ldexp(RANDOM.standard_normal((40, 20480)), RANDOM.integers(-20, 20, (40, 20480))).astype("<f4")
    write("in.gguf", {**quantized, **kept})
    run("quant", "in.gguf", "nvfp4", "-o", "out.gguf", "--force", "-q", "--threads", 1)
    after, told = read("out.gguf")
    for tensor, array in quantized.items():
        blocks, whole = nvfp4(array)
        require(after[tensor] == ("NVFP4", array.shape, blocks), "NVFP4", tensor, "is not the model's")
        require(after[tensor.replace(".weight", ".scale")] == ("F32", (1,), whole), "the scale of", tensor)
    require(len(after) == 2 * len(quantized) + len(kept), list(after))
    require(number(told, "general.file_type") == 39, told["general.file_type"])
    run("check", "out.gguf", "--quantized")
    for words in (["--threads", 2], ["--threads", 3, "--max-memory", "64KiB"]):
        run("quant", "in.gguf", "nvfp4", "-o", "again.gguf", "--force", "-q", *words)
        require(bytes_of("again.gguf") == bytes_of("out.gguf"), words, "makes other bytes")
    run("quant", "out.gguf", "nvfp4", "-o", "again.gguf", "--force", "-q")
    require(bytes_of("again.gguf") == bytes_of("out.gguf"), "our own NVFP4 becomes another")
    run("quant", "in.gguf", "nvfp4", "-o", "plain.safetensors", "--layout", "modelopt", "--force", "-q", "--keep", ",".join(kept))
    run("compare", "plain.safetensors", "out.gguf", "-q")
    run("quant", "in.gguf", "q8_0", "-o", "mixed.gguf", "--force", "-q", "--type", "output.weight=nvfp4")
    mixed = read("mixed.gguf")[0]
    require(mixed["output.weight"][2] == nvfp4(quantized["output.weight"])[0] and "output.scale" in mixed, list(mixed))
    run("quant", "out.gguf", "q8_0", "-o", "back.gguf", "--force", "-q", "--template", "in.gguf")
    require(not any(tensor.endswith(".scale") for tensor in read("back.gguf")[0]), "scales of blocks that are no more")
    quantized["wide.weight"][3, 5] = numpy.nan
    write("in.gguf", quantized)
    said = run("quant", "in.gguf", "nvfp4", "-o", "nan.gguf", status=3)[1]
    require("element 61445 is NaN" in said and not os.path.exists("nan.gguf"), said)


def judge_losses():
    """The figures of a tensor, from what gguf-py reads back."""
    numbers = RANDOM.standard_normal((37, 8192)).astype("<f4")
    write("loss.gguf", {"a.weight": numbers})
    one, two = (json.loads(run("quant", "loss.gguf", "q8_0", "-o", "out.gguf", "--force", "--json", *words)[0])
                for words in (["--threads", 1], ["--threads", 2, "--max-memory", "100KiB"]))
    back = gguf.quants.dequantize(numpy.frombuffer(read("out.gguf")[0]["a.weight"][2], "u1").reshape(37, -1), TYPES.Q8_0)
    error = back.astype("f8") - numbers
    loss = one["tensors"][0]["loss"]
    require(one["tensors"] == two["tensors"], "losses depend on threads")
    require(loss["inexact"] == int((error != 0).sum()) and loss["compared"] == numbers.size, loss)
    require(loss["max_absolute_error"]["value"] == numpy.abs(error).max(), loss["max_absolute_error"])
    require(loss["max_absolute_error_index"] == int(numpy.abs(error).argmax()), loss["max_absolute_error_index"])
    sqnr = 10 * numpy.log10((numbers.astype("f8") ** 2).sum() / (error ** 2).sum())
    require(abs(loss["sqnr_db"]["value"] - sqnr) < 1e-5, loss["sqnr_db"], sqnr)
    require(one["output"]["layout"] == "gguf" and one["output"]["dtype"] == "q8_0", one["output"])
    require(one["output"]["metadata_changes"] == [{"key": "general.file_type", "from": 1, "to": 7}], one["output"])


def judge_blocks():
    """Converts blocks of one type to another; --type, --keep and --quant-only."""
    numbers = RANDOM.standard_normal((6, 256)).astype("<f4")
    codes = gguf.quants.quantize(numbers, TYPES.Q8_0)
    names = ["a.weight", "b.weight", "c.weight", "d.bias"]
    blocks = (TYPES.Q8_0, (6, 256), codes.tobytes())
    write("in.gguf", {**{name: blocks for name in names}, "v.weight": numbers[0]}, pairs=[("general.file_type", 7)])
    new = gguf.quants.quantize(gguf.quants.dequantize(codes, TYPES.Q8_0), TYPES.Q4_0).tobytes()
    q8, q4 = ("Q8_0", (6, 256), codes.tobytes()), ("Q4_0", (6, 256), new)
    fp32 = ("F32", (6, 256), gguf.quants.dequantize(codes, TYPES.Q8_0).tobytes())
    for words, want in (([], [q4, q4, q4, q8]), (["--keep", "b*"], [q4, q8, q4, q8]),
                        (["--quant-only", "b*,d*"], [q8, q4, q8, q8]), (["--type", "d*=q4_0,*=q8_0"], [q8, q8, q8, q4]),
                        (["--type", "a*=fp32,a*=q4_0"], [fp32, q4, q4, q8]), (["--type", "a*=f32,*=q8_0"], [fp32, q8, q8, q8]),
                        (["--type", "*=q4_0", "--keep", "a*"], [q8, q4, q4, q4])):
        run("quant", "in.gguf", "q4_0", "-o", "out.gguf", "--force", "-q", *words)
        after, told = read("out.gguf")
        require([after[name] for name in names] == want, words, {name: after[name][0] for name in names})
        require(after["v.weight"][0] == "F32", words)
        made = any(kind[0] == "Q4_0" for kind in want)
        require(number(told, "general.quantization_version") == (2 if made else None), words, list(told))
        sizes = {name: sum(len(kind[2]) for kind in want if kind[0] == name) for name in ("Q4_0", "Q8_0")}
        require(number(told, "general.file_type") == (2 if sizes["Q4_0"] > sizes["Q8_0"] else 7), words, sizes)
    run("quant", "in.gguf", "q4_0", "-o", "out.gguf", "--force", "-q", "--select", "b*")
    require(list(read("out.gguf")[0].items()) == [("b.weight", q4)], "selected")


def judge_template():
    quantized, kept = model()
    both = {**quantized, **kept}
    write("model.gguf", both)
    write("turned.gguf", dict(reversed(both.items())))
    run("cast", "turned.gguf", "fp32", "-o", "plain.safetensors", "-q", "--keep", "*", "--force")
    run("quant", "model.gguf", "q8_0", "-o", "want.gguf", "-q", "--force")
    for source in ("plain.safetensors", "turned.gguf", "model.gguf"):
        run("quant", source, "q8_0", "--template", "model.gguf", "-o", "out.gguf", "-q", "--force")
        require(bytes_of("out.gguf") == bytes_of("want.gguf"), source)
    run("quant", "plain.safetensors", "int8", "-o", "int8.safetensors", "-q", "--force", "--keep", "*norm*,*ssm*")
    run("quant", "int8.safetensors", "bf16", "--dequant", "--template", "model.gguf", "-o", "out.gguf", "-q", "--force")
    require(list(read("out.gguf")[0]) == list(both) and number(read("out.gguf")[1], "general.file_type") == 32, "dequant")
    run("cast", "plain.safetensors", "bf16", "--template", "want.gguf", "-o", "out.gguf", "-q", "--force")
    run("cast", "model.gguf", "bf16", "-o", "want.gguf", "-q", "--force")
    require(bytes_of("out.gguf") == bytes_of("want.gguf"), "cast")
    write("more.gguf", {**both, "extra.weight": numpy.zeros((2, 32), "<f4")})
    write("shape.gguf", {**both, "output.weight": numpy.zeros((2, 256), "<f4")})
    write("big.gguf", both, big=True)
    for words, problem in ((["plain.safetensors", "--template", "more.gguf"], "1 of 12 tensors of 'more.gguf' is missing"),
                           (["more.gguf", "--template", "model.gguf"], "'more.gguf' is missing in 'model.gguf'"),
                           (["shape.gguf", "--template", "model.gguf"], "has another shape than in 'model.gguf'"),
                           (["plain.safetensors", "--template", "big.gguf"], "is big-endian"),
                           (["plain.safetensors", "--template", "plain.safetensors"], "a template is a gguf file"),
                           (["plain.safetensors"], "--template MODEL.gguf")):
        _, said = run("quant", words[0], "q8_0", *words[1:], "-o", "bad.gguf", status=2)
        require(problem in said and said.count("\n") == 1 and not os.path.exists("bad.gguf"), words, said)
    run("quant", "big.gguf", "q8_0", "--template", "model.gguf", "-o", "out.gguf", "-q", "--force")


def judge_odd():
    whole = numpy.ones((3, 4096), "<f4")
    for name, at, value, problem in (("nan", 9000, numpy.nan, "element 9000 is NaN or infinite"),
                                     ("inf", 4095, -numpy.inf, "element 4095 is NaN or infinite"),
                                     ("far", 8200, 1e30, "the block of element 8192 needs a scale beyond fp16")):
        odd = whole.copy()
        odd.reshape(-1)[at] = value
        write("in.gguf", {"ok.weight": whole, "odd.weight": odd})
        for threads in (1, 2):
            _, said = run("quant", "in.gguf", "q8_0", "-o", "bad.gguf", "--threads", threads, status=3)
            require("'odd.weight': " + problem in said and said.count("\n") == 1, name, said)
            require(not os.path.exists("bad.gguf"), name)
        run("quant", "in.gguf", "q8_0", "-o", "out.gguf", "--keep", "odd*", "-q", "--force")
    write("in.gguf", {"a.weight": numpy.ones((2, 100), "<f4"), "b.weight": whole})
    _, said = run("quant", "in.gguf", "q8_0", "-o", "bad.gguf", status=2)
    require("'a.weight' has rows of 100 elements, and q8_0 needs whole blocks of 32" in said, said)
    run("quant", "in.gguf", "q8_0", "-o", "out.gguf", "--type", "a*=bf16", "-q", "--force")
    require(read("out.gguf")[0]["a.weight"][0] == "BF16", "another type")
    write("in.gguf", {"vector.weight": whole[0], "four.weight": whole.reshape(3, 2, 4, 512)})
    run("quant", "in.gguf", "q8_0", "-o", "out.gguf", "--type", "vector*=q8_0,*=q8_0", "-q", "--force")
    require([kind for kind, *_ in read("out.gguf")[0].values()] == ["F32", "Q8_0"], "vectors")
    data = b"GGUF" + struct.pack("<IQQ", 3, 2, 0)
    for name, shape, at in ((b"one.weight", (), 0), (b"none.weight", (0, 64), 32)):
        data += struct.pack("<Q", len(name)) + name + struct.pack("<I", len(shape))
        data += struct.pack("<%dQ" % len(shape), *shape[::-1]) + struct.pack("<IQ", 0, at)
    data += bytes(-len(data) % 32) + struct.pack("<f", 2) + bytes(28)
    with open("in.gguf", "wb") as file:
        file.write(data)
    document = json.loads(run("quant", "in.gguf", "q8_0", "-o", "out.gguf", "--force", "--json")[0])
    require([(t["name"], t["fate"], t["to"], t["bytes"]) for t in document["tensors"]] ==
            [("one.weight", "scalar", "fp32", 4), ("none.weight", "quantized", "q8_0", 0)], document["tensors"])
    os.symlink("/dev/full", "full.gguf")
    write("in.gguf", {"b.weight": whole})
    _, said = run("quant", "in.gguf", "q8_0", "-o", "full.gguf", "--force", status=2)
    require("not a regular file" in said, said)


def main():
    harness.in_new_folder(judge_types, judge_nvfp4, judge_losses, judge_blocks, judge_template, judge_odd)
    left = ", not judged: %s (DTI_GGML_LIBRARY)" % ", ".join(sorted(set(without))) if without else ""
    print("%d checks%s" % (DTINFO.checks, left))


if __name__ == "__main__":
    main()
