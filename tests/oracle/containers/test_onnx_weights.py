#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which tensors of an ONNX model are quantized weights: names in subgraphs and functions, parts that are shared or
inconsistent, and models that are large or broken.

usage: test_onnx_weights.py DTINFO
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

from onnx_models import (DTINFO, TALLY, array, bits_of, kind, linear, listed, model, np, numbers, onnx, random_codes,
                         random_scales, reference, run, same, tensor)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "data"))
import make_onnx  # noqa: E402

SANITIZED = b"__asan" in pathlib.Path(DTINFO).read_bytes()


def places():
    """Constants, subgraphs that shadow names, functions, external data, typed fields, several weights that share a
    part."""
    def graph(name, nodes, *initializers, inputs=(), output="o"):
        return onnx.helper.make_graph(nodes, name, list(inputs), [onnx.helper.make_tensor_value_info(
            output, onnx.TensorProto.FLOAT, None)], list(initializers))

    def one(name, *values):
        return array(name, np.array(values, np.int8))

    scale = array("s", np.float32(0.5))
    constant = onnx.helper.make_node("Constant", [], ["x"], value=one("", 1, 2, 3))
    same("a Constant", model([constant, linear()], [scale]), np.float32([0.5, 1, 1.5]))
    typed = onnx.helper.make_tensor("x", onnx.TensorProto.INT8, [3], [1, -2, 3])
    same("a typed field", model([linear()], [typed, scale]), np.float32([0.5, -1, 1.5]))
    microsoft = onnx.helper.make_node("DequantizeLinear", ["x", "s"], ["y"], domain="com.microsoft")
    same("the domain of onnxruntime", model([microsoft], [one("x", 4), scale]), np.float32([2]))
    same("two nodes that agree", model([linear(), linear(output="y2")], [one("x", 4), scale]), np.float32([2]))
    same("an empty zero point", model([linear(zero="")], [one("x", 4), scale]), np.float32([2]))
    default = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.INT8, [1])
    same("an initializer that is a default", model([linear()], [one("x", 4), scale], [default]), np.float32([2]))
    inner = graph("t", [linear(output="o")], one("x", 10))
    outer = graph("e", [linear(output="o")], array("s", np.float32(2)))
    branch = onnx.helper.make_node("If", ["c"], ["y"], name="if", then_branch=inner, else_branch=outer)
    condition = array("c", np.array(True))
    with open("model.onnx", "wb") as file:
        file.write(model([branch, linear(output="z")], [one("x", 1, 2), scale, condition]).SerializeToString())
    got = numbers("model.onnx", "fp32", "--keep", "x")
    TALLY.check("names of subgraphs: the inner one", got.get("if/then_branch/x"), bits_of([5]))
    notes = listed("model.onnx")["notes"]
    TALLY.check("names of subgraphs: the outer one has two scales", [note["code"] for note in notes], ["read_as_stored"])
    TALLY.check("names of subgraphs: why", "several ways" in notes[0]["message"] if notes else None, True)
    body = graph("b", [linear(output="o")], inputs=[onnx.helper.make_tensor_value_info("x", 3, [1])])
    loop = onnx.helper.make_node("Loop", ["", "c", "a"], ["y"], body=body)
    with open("model.onnx", "wb") as file:
        file.write(model([loop], [one("x", 1, 2), scale, condition]).SerializeToString())
    TALLY.check("an input hides a name", [item["quantized"] for item in listed("model.onnx")["tensors"]
                                          if item["quantized"]], [])
    function = onnx.helper.make_function("pkg", "f", [], ["y"], [
        onnx.helper.make_node("Constant", [], ["x"], value=one("", 6)),
        onnx.helper.make_node("Constant", [], ["s"], value=scale), linear()], [onnx.helper.make_opsetid("", 21)])
    same("a function", model([], [one("x", 1)], functions=[function]), np.float32([3]), "pkg.f/Constant_0/value/x")
    codes = tensor("x", "INT4", (64, 64), random_codes("INT4", 4096))
    two = tensor("x2", "INT4", (64, 64), random_codes("INT4", 4096))
    scales = array("s", random_scales("FLOAT", (64,)))
    zero = tensor("z", "INT4", (64,), random_codes("INT4", 64))
    proto = model([linear(zero="z", axis=0), linear("x2", zero="z", axis=0, output="y2")], [codes, two, scales, zero])
    expected = reference(proto)
    onnx.save(proto, "external.onnx", save_as_external_data=True, location="w.data", size_threshold=0)
    got = numbers("external.onnx")
    TALLY.check("external data", got.get("x", got), bits_of(expected))
    shown = listed("external.onnx")
    TALLY.check("shared parts are counted once", sum(item["bytes"] for item in shown["tensors"]), 2 * 2048 + 256 + 32)
    TALLY.check("parts are not shown", sorted(item["name"] for item in shown["tensors"]), ["x", "x2"])
    activation = [linear("a", "s", "z"), linear(zero="z")]
    proto = model(activation, [array("x", np.int8([[4, 6]])), array("s", np.float32(2)), array("z", np.int8(1))],
                  [onnx.helper.make_tensor_value_info("a", 3, [1])])
    onnx.save(proto, "shared.onnx")
    shown = listed("shared.onnx")["tensors"]
    TALLY.check("parts that activations share stay", [(item["name"], item["bytes"]) for item in shown],
                [("x", 2), ("s", 4), ("z", 1)])
    TALLY.check("and are no parameters", listed("shared.onnx")["totals"]["parameters"], 2)
    TALLY.check("a weight beside activations", numbers("shared.onnx").get("x"), bits_of([6, 10]))
    kept = numbers("external.onnx", "fp32", "--keep", "x2")
    TALLY.check("packed codes are in no safetensors file", "x2" in kept.get("error", ""), True)
    whole = model([linear(axis=0, zero="z"), linear("x2", axis=0, zero="z", output="y2")], [
        array("x", np.int8([1])), array("x2", np.int8([2])), array("s", np.float32([2])), array("z", np.int8([3]))])
    onnx.save(whole, "kept.onnx")
    TALLY.check("parts of what is kept stay", [sorted(numbers("kept.onnx", "fp32", "--keep", name))
                                               for name in ("x", "x2")], [["s", "x", "x2", "z"]] * 2)
    TALLY.part("where parts are")


def commands():
    """stats, compare, check, cast and mem see the dequantized numbers."""
    codes = tensor("x", "INT8", (4, 32), random_codes("INT8", 128))
    proto = model([linear(axis=1, block_size=16)], [codes, array("s", abs(random_scales("FLOAT16", (4, 2))))],
                  kind_of_output=kind("FLOAT16"))
    onnx.save(proto, "m.onnx")
    expected = reference(proto).astype(np.float32)
    stats = [one for one in listed("m.onnx", "--stats")["tensors"] if one["name"] == "x"][0]["stats"]
    TALLY.check("stats", tuple(float(stats[end]["value"]) for end in ("min", "max")), (float(expected.min()), float(expected.max())))
    run("quant", "m.onnx", "--dequant", "fp16", "-o", "m.safetensors", "-q")
    TALLY.check("compare", run("compare", "m.onnx", "m.safetensors", "-q").returncode, 0)
    TALLY.check("check", run("check", "m.onnx", "-q").returncode, 0)
    TALLY.check("check --quantized", run("check", "m.onnx", "--quantized", "-q").returncode, 0)
    done = run("transcode", "m.onnx", "--to", "compressed-tensors", "-o", "t")
    TALLY.check("transcode is refused in a line", (done.returncode != 0, done.stderr.count(b"\n")), (True, 1))
    mem = json.loads(run("mem", "m.onnx", "--json").stdout)
    TALLY.check("mem", "error" in mem, False)
    TALLY.part("commands")


def broken_models():
    """Inconsistent models: (subject, model, words of the note)."""
    x, s = array("x", np.arange(12, dtype=np.int8).reshape(3, 4)), array("s", np.float32([1, 2, 3, 4]))
    one = array("s", np.float32(1))

    def group(*shape):
        return array("s", random_scales("FLOAT", shape))

    graph_input = onnx.helper.make_tensor_value_info("s", 1, None)
    yield "a scale that is an input", model([linear()], [x], [graph_input]), "not stored"
    yield "no scale", model([onnx.helper.make_node("DequantizeLinear", ["x"], ["y"])], [x]), "not stored"
    yield "an empty scale", model([linear(scale="")], [x]), "not stored"
    yield "a scale of nothing", model([linear(scale="nothing")], [x]), "not stored"
    yield "a zero point of nothing", model([linear(zero="nothing")], [x, s]), "not stored"
    yield "a scale that another node makes", model([linear("sx", "one", output="s"), linear()], [
        x, array("sx", np.int8(1)), array("one", np.float32(1))]), "not stored"
    yield "codes as scales", model([linear("x", "x")], [x]), "codes and as scales"
    yield "a cycle", model([linear("x", "s"), linear("s", "x", output="y2")], [x, array("s", np.int8([1, 2, 3, 4]))]), None
    yield "axis 2 of 2", model([linear(axis=2)], [x, s]), "axis"
    yield "axis -3 of 2", model([linear(axis=-3)], [x, s]), "axis"
    yield "axis 2^63 - 1", model([linear(axis=2 ** 63 - 1)], [x, s]), "axis"
    yield "axis -2^63", model([linear(axis=-2 ** 63)], [x, s]), "axis"
    yield "the other axis", model([linear(axis=0)], [x, s]), "one scale"
    yield "a list of one dimension more", model([linear()], [x, group(1, 4)]), "one scale"
    yield "blocks that leave some over", model([linear(axis=1, block_size=3)], [x, group(3, 1)]), "each block"
    yield "blocks of another rank", model([linear(axis=1, block_size=2)], [x, group(2)]), "each block"
    yield "blocks of one scale", model([linear(axis=1, block_size=4)], [x, one]), "each block"
    yield "blocks of too many rows", model([linear(axis=1, block_size=4)], [x, group(4, 1)]), "each block"
    yield "blocks of 2^63 - 1", model([linear(axis=1, block_size=2 ** 63 - 1)], [x, group(3, 2)]), "each block"
    yield "a negative block_size", model([linear(axis=1, block_size=-4)], [x, group(3, 1)]), "negative"
    yield "scales of integers", model([linear()], [x, array("s", np.int32([1, 2, 3, 4]))]), "FLOAT"
    yield "scales of doubles", model([linear()], [x, array("s", np.float64([1, 2, 3, 4]))]), "FLOAT"
    yield "scales of e8m0 without a dtype", model([linear()], [x, tensor("s", "FLOAT8E8M0", (4,), [127] * 4)]), "output"
    yield "an output_dtype of integers", model([linear(output_dtype=3)], [x, s]), "output_dtype"
    yield "an output_dtype of 999", model([linear(output_dtype=999)], [x, s]), "output_dtype"
    yield "zero points of another dtype", model([linear(zero="z")], [x, s, array("z", np.uint8([1] * 4))]), "dtype"
    yield "too few zero points", model([linear(zero="z")], [x, s, array("z", np.int8([1] * 3))]), "zero point"
    yield "zero points in another shape", model([linear(zero="z")], [x, s, array("z", np.int8([[1] * 4]))]), "shape"
    yield "codes of floats", model([linear()], [array("x", np.float32([[1, 2, 3, 4]])), s, array("i", np.int8([1]))]), "codes"
    yield "codes of INT64", model([linear()], [array("x", np.int64([[1, 2, 3, 4]])), s]), "codes"
    deep = array("x", np.zeros((1,) * 17, np.int8))
    yield "17 dimensions", model([linear()], [deep, one]), "dimensions"
    several = [linear(), linear(scale="s2", output="y2")]
    yield "two scales", model(several, [x, s, array("s2", np.float32([4, 3, 2, 1]))]), "several ways"
    yield "two axes", model([linear(axis=0), linear(axis=1, output="y2")], [array("x", np.zeros((4, 4), np.int8)), s]), \
        "several ways"
    function = onnx.helper.make_function("pkg", "f", [], ["y"], [
        onnx.helper.make_node("Constant", [], ["x"], value=x), onnx.helper.make_node("Constant", [], ["s"], value=s),
        linear()], [onnx.helper.make_opsetid("", 21)], attributes=["axis"])
    node = function.node[2].attribute.add()
    node.name, node.ref_attr_name, node.type = "axis", "axis", onnx.AttributeProto.INT
    yield "an attribute of the caller", model([], [], functions=[function]), "caller"
    escape = array("\x1b[2J\n", np.zeros((3, 4), np.int8))
    yield "a name with escapes", model([linear("\x1b[2J\n", axis=0)], [escape, s]), "one scale"
    for subject, change, word in (
            ("bits 3", {"bits": 3}, "bits"), ("bits -4", {"bits": -4}, "bits"), ("bits 2^32 + 4", {"bits": 2 ** 32 + 4}, "bits"),
            ("no K", {"K": 0}, "K, N"), ("N -1", {"N": -1}, "K, N"), ("another N", {"N": 3}, "shape"),
            ("another K", {"K": 99}, "shape"), ("K of 2^63 - 1", {"K": 2 ** 63 - 1}, "shape"),
            ("block_size 15", {"block_size": 15}, "shape"), ("block_size 2^62", {"block_size": 2 ** 62}, "shape"),
            ("block_size 0", {"block_size": 0}, "K, N")):
        attributes = {"K": 32, "N": 2, "bits": 4, "block_size": 16, **change}
        yield "MatMulNBits: " + subject, model([onnx.helper.make_node(
            "MatMulNBits", ["A", "x", "s"], ["y"], domain="com.microsoft", **attributes)], [
                array("x", np.zeros((2, 2, 8), np.uint8)), group(4)]), word
    attributes = {"K": 32, "N": 2, "bits": 4, "block_size": 16}
    for subject, inputs, more, word in (
            ("g_idx", ["", "g"], [array("g", np.zeros(32, np.int32))], "g_idx"),
            ("zero points of another dtype", ["z"], [array("z", np.zeros(4, np.int8))], "zero point"),
            ("too many zero points", ["z"], [array("z", np.zeros(5, np.uint8))], "zero point")):
        yield "MatMulNBits: " + subject, model([onnx.helper.make_node(
            "MatMulNBits", ["A", "x", "s"] + inputs, ["y"], domain="com.microsoft", **attributes)], [
                array("x", np.zeros((2, 2, 8), np.uint8)), group(4), *more]), word
    yield "MatMulNBits: a scale too few", model([onnx.helper.make_node(
        "MatMulNBits", ["A", "x", "s"], ["y"], domain="com.microsoft", **attributes)], [
            array("x", np.zeros((2, 2, 8), np.uint8)), group(3)]), "each block"
    for change, word in (({"block_size": 0}, "block_size"), ({"quantize_axis": 0}, "last"), ({"bits": 5}, "bits"),
                         ({"block_size": 99}, "each block")):
        yield f"GatherBlockQuantized: {change}", model([onnx.helper.make_node(
            "GatherBlockQuantized", ["x", "i", "s"], ["y"], domain="com.microsoft", **{"block_size": 16, "bits": 4, **change})], [
                array("x", np.zeros((2, 16), np.uint8)), group(2, 2), array("i", np.arange(2))]), word


def broken():
    """A note and the tensors as stored; commands that need numbers print one line and exit with code 3."""
    for subject, proto, word in broken_models():
        with open("bad.onnx", "wb") as file:
            file.write(proto.SerializeToString())
        done = run("inspect", "bad.onnx", "--json")
        TALLY.check(subject, (done.returncode, done.stderr.count(b"\n")), (0, 0))
        document = json.loads(done.stdout)["files"][0] if done.returncode == 0 else {"tensors": [], "notes": []}
        TALLY.check(subject + ": nothing is quantized", [one["name"] for one in document["tensors"] if one["quantized"] and one["name"] != "sx"], [])
        notes = [note["message"] for note in document.get("notes", []) if note["code"] == "read_as_stored"]
        TALLY.check(f"{subject}: {notes}", len(notes) == 1 and (word is None or word in notes[0]), True)
        done = run("quant", "bad.onnx", "--dequant", "fp32", "-o", "bad.safetensors", "--force")
        TALLY.check(f"{subject}: {done.stderr}", (done.returncode, done.stderr.count(b"\n")), (3, 1))
        odd = [byte for byte in done.stderr if byte < 32 and byte != 10 or byte == 127]
        TALLY.check(subject + ": control characters", odd, [])
    # nonzero zero points where none are allowed are detected when they are read
    for codes_type in ("INT32", "FLOAT8E4M3FN"):
        proto = model([linear(zero="z")], [tensor("x", codes_type, (2,), [1, 2]), array("s", np.float32(1)),
                                           tensor("z", codes_type, (), [1])])
        onnx.save(proto, "bad.onnx")
        done = run("quant", "bad.onnx", "--dequant", "fp32", "-o", "bad.safetensors", "--force")
        TALLY.check(f"a zero point of {codes_type}: {done.stderr}", (done.returncode, done.stderr.count(b"\n")), (3, 1))
    TALLY.part("broken models")


def limited(subject, proto, expected):
    """Less than 3 seconds of the processor, also on a slow one (it takes 0.3 at most), and 128 MiB."""
    with open("large.onnx", "wb") as file:
        file.write(proto if isinstance(proto, bytes) else proto.SerializeToString())
    def limit():
        if not SANITIZED:
            resource.setrlimit(resource.RLIMIT_DATA, (128 << 20, 128 << 20))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([DTINFO, "inspect", "large.onnx", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, preexec_fn=limit)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    TALLY.check(f"{subject}: {done.stderr}", done.returncode, 0)
    if done.returncode == 0:
        document = json.loads(done.stdout)["files"][0]
        TALLY.check(subject, sum(one["quantized"] is not None for one in document["tensors"]), expected)
    print(f"{subject}: {seconds:.2f} s")
    if not SANITIZED:
        TALLY.check(subject + ": time", seconds < 3, True)


def large():
    """10^5 nodes over one initializer, and over 10^5 initializers."""
    scale = array("s", np.float32(1))
    codes = array("x", np.int8([1, 2, 3, 4]))
    limited("10^5 nodes over one", model([linear(output=f"y{i}") for i in range(100000)], [codes, scale], output="y0"), 1)
    scales = [array(f"s{i}", np.float32(i)) for i in range(1000)]
    nodes = [linear(scale=f"s{i % 1000}", output=f"y{i}") for i in range(100000)]
    limited("10^5 nodes that differ", model(nodes, [codes, *scales], output="y0"), 0)
    initializers = [onnx.TensorProto(name=f"x{i}", data_type=3, dims=[4], raw_data=b"abcd") for i in range(50000)]
    scales = [onnx.TensorProto(name=f"s{i}", data_type=1, dims=[], raw_data=b"\0\0\x80\x3f") for i in range(50000)]
    nodes = [linear(f"x{i}", f"s{i}", output=f"y{i}") for i in range(50000)]
    limited("10^5 initializers", model(nodes, initializers + scales, output="y0"), 50000)
    use = make_onnx.use("DequantizeLinear", ["x", "s"])
    parts = [make_onnx.raw("x", 3, (1,), b"a"), make_onnx.raw("s", 1, (), b"\0\0\x80\x3f")]
    limited("2^18 nodes and 3", make_onnx.model(*parts, graph=use * ((1 << 18) + 3)), 1)
    TALLY.check("nodes beyond the limit", [one["message"] for one in listed("large.onnx")["notes"]],
                ["3 nodes with quantized weights are ignored; the limit is 262144"])
    deep = make_onnx.raw("x", 3, (1,), b"a")
    graph = b""
    for _ in range(32):
        graph = make_onnx.block(1, make_onnx.node("If", "n", "o", make_onnx.block(1, "t") + make_onnx.block(
            6, graph + make_onnx.block(5, deep) + use * 2000)))
    limited("nodes in 32 graphs, one in another", make_onnx.model(*parts, graph=graph + use), 33)
    TALLY.part("large models")


with tempfile.TemporaryDirectory(prefix="dtinfo-onnx-") as scratch:
    os.chdir(scratch)
    for part in (places, commands, broken, large):
        part()
    os.chdir("/")
TALLY.finish()
