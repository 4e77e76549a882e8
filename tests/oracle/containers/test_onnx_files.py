#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ONNX models of every data type, raw, typed and external, against onnx.numpy_helper.to_array: each tensor that dtinfo
writes has the same bits.

usage: test_onnx_files.py DTINFO
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from harness import Tally, have

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "data"))
from make_onnx import block, external, model, number, numbers, raw, tag, tensor, write  # noqa: E402

DTINFO = os.path.abspath(sys.argv[1])
TALLY = Tally()
RANDOM = random.Random(25)
onnx, np, ml_dtypes = have("onnx"), have("numpy"), have("ml_dtypes")

# ONNX's name: bits per element, numbers per element, the typed field, its wire type
TYPES = {"FLOAT": (32, 1, 4, "fixed32"), "UINT8": (8, 1, 5, "varint"), "INT8": (8, 1, 5, "varint"),
         "UINT16": (16, 1, 5, "varint"), "INT16": (16, 1, 5, "varint"), "INT32": (32, 1, 5, "varint"),
         "INT64": (64, 1, 7, "varint"), "BOOL": (8, 1, 5, "varint"), "FLOAT16": (16, 1, 5, "varint"),
         "DOUBLE": (64, 1, 10, "fixed64"), "UINT32": (32, 1, 11, "varint"), "UINT64": (64, 1, 11, "varint"),
         "COMPLEX64": (64, 2, 4, "fixed32"), "COMPLEX128": (128, 2, 10, "fixed64"), "BFLOAT16": (16, 1, 5, "varint"),
         "FLOAT8E4M3FN": (8, 1, 5, "varint"), "FLOAT8E4M3FNUZ": (8, 1, 5, "varint"), "FLOAT8E5M2": (8, 1, 5, "varint"),
         "FLOAT8E5M2FNUZ": (8, 1, 5, "varint"), "FLOAT8E8M0": (8, 1, 5, "varint"), "UINT4": (4, 1, 5, "varint"),
         "INT4": (4, 1, 5, "varint"), "FLOAT4E2M1": (4, 1, 5, "varint"), "UINT2": (2, 1, 5, "varint"),
         "INT2": (2, 1, 5, "varint"), "FLOAT6E2M3": (6, 1, 5, "varint"), "FLOAT6E3M2": (6, 1, 5, "varint")}
DTYPES = {"FLOAT": "fp32", "DOUBLE": "fp64", "FLOAT16": "fp16", "BFLOAT16": "bf16", "FLOAT8E4M3FN": "fp8_e4m3fn",
          "FLOAT8E4M3FNUZ": "fp8_e4m3fnuz", "FLOAT8E5M2": "fp8_e5m2", "FLOAT8E5M2FNUZ": "fp8_e5m2fnuz",
          "FLOAT8E8M0": "fp8_e8m0", "FLOAT6E2M3": "fp6_e2m3", "FLOAT6E3M2": "fp6_e3m2", "FLOAT4E2M1": "fp4_e2m1"}
# types that safetensors lacks, or supports only for some element counts
ALONE = {"INT4", "UINT4", "INT2", "UINT2", "FLOAT4E2M1", "FLOAT6E2M3", "FLOAT6E3M2", "COMPLEX128"}


def run(*words):
    return subprocess.run([DTINFO, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def inspect(path):
    done = run("inspect", path, "--json", "--metadata")
    if done.returncode != 0:
        return done.stderr.decode()
    return json.loads(done.stdout)["files"][0]


def pattern(bits, count):
    """`count` random codes as one integer, the first in the lowest bits."""
    return sum(RANDOM.getrandbits(bits) << bits * i for i in range(count))


def bytes_of(array):
    """An array's codes as bytes: of 8 bits and more as they are, narrower ones one per byte."""
    return np.ascontiguousarray(array).tobytes()


def codes_of(array, bits):
    """The same, without the bits that ml_dtypes keeps above the code, such as the sign of an int4."""
    data = bytes_of(array)
    return bytes(byte & (1 << bits) - 1 for byte in data) if bits < 8 else data


def written(path, name):
    """A tensor as dtinfo writes it, in raw codes."""
    done = run("cast", path, "fp32", "--keep", "*", "--select", name, "--as", "raw", "-o", "-", "-q")
    return done.stdout if done.returncode == 0 else done.stderr.decode()


def written_together(path, names):
    """The same for all tensors, from one safetensors file."""
    done = run("cast", path, "fp32", "--keep", "*", "--select", ",".join(names), "--as", "safetensors", "-o", "-", "-q")
    if done.returncode != 0:
        return {name: done.stderr.decode() for name in names}
    size = int.from_bytes(done.stdout[:8], "little")
    header, data = json.loads(done.stdout[8:8 + size]), done.stdout[8 + size:]
    return {name: data[slice(*header[name]["data_offsets"])] if name in header else None for name in names}


def packed(array, bits):
    """An array's codes without gaps, the first in the lowest bits; for 8 bits and more its bytes."""
    if bits >= 8:
        return bytes_of(array)
    codes = codes_of(array, bits)
    whole = sum(code << bits * i for i, code in enumerate(codes))
    return whole.to_bytes((len(codes) * bits + 7) // 8, "little")


def compare(subject, path, expected):
    """expected: name: (ONNX's type, array). Compares what dtinfo lists and what it writes for each."""
    document = inspect(path)
    if isinstance(document, str):
        TALLY.differ(subject, document, "a document")
        return
    listed = {one["name"]: one for one in document["tensors"]}
    TALLY.check(subject + ": names", sorted(listed), sorted(expected))
    together = [name for name, (kind, _) in expected.items() if kind not in ALONE]
    codes = written_together(path, together) if together else {}
    for name, (kind, array) in expected.items():
        bits = TYPES[kind][0]
        one = listed.get(name, {})
        dtype = DTYPES.get(kind, kind.lower())
        TALLY.check(f"{subject}: {name}", (one.get("dtype"), one.get("shape"), one.get("stored_as")),
                    (dtype, list(array.shape), kind))
        got = codes[name] if name in codes else written(path, name)
        TALLY.check(f"{subject}: codes of {name}", got, packed(array, bits))


def loaded(path, *more):
    """Everything that onnx itself finds in a file: initializers, and `more` tensors of it."""
    model_proto = onnx.load(path)
    tensors = list(model_proto.graph.initializer) + [find(model_proto) for find in more]
    return {one.name: (onnx.TensorProto.DataType.Name(one.data_type), onnx.numpy_helper.to_array(one))
            for one in tensors}


def random_bytes(kind, count):
    bits = TYPES[kind][0]
    whole = pattern(bits, count)
    if kind == "BOOL":
        whole &= sum(1 << 8 * i for i in range(count))
    return whole.to_bytes((bits * count + 7) // 8, "little")


def typed(kind, dims, packing, name=None, sign=False):
    """A tensor with values in its typed field, in each encoding that a library may write."""
    bits, parts, field, wire = TYPES[kind]
    count = 1
    for size in dims:
        count *= size
    data = random_bytes(kind, count)
    whole = int.from_bytes(data, "little")
    if bits == 6:
        width, values = 6, count
    else:
        width = max(8, bits // parts)
        values = len(data) * 8 // width
    numbers_in = [whole >> width * i & (1 << width) - 1 for i in range(values)]
    if wire == "varint" and (sign or kind.startswith("INT")) and bits >= 8:
        numbers_in = [n - (1 << width) if n >> (width - 1) else n for n in numbers_in]
    return tensor(name or kind, getattr(onnx.TensorProto, kind), dims, numbers(field, numbers_in, wire, packing))


SHAPES = [(), (2, 3), (3, 5, 7), (4, 0, 2), (129,)]


def all_types():
    """Raw bytes, and typed fields (packed, unpacked, mixed), for every type and many shapes."""
    for shape in SHAPES:
        count = int(np.prod(shape, dtype=np.int64))
        write("raw.onnx", model(*(raw(kind, getattr(onnx.TensorProto, kind), shape, random_bytes(kind, count))
                                  for kind in TYPES)))
        compare(f"raw {shape}", "raw.onnx", loaded("raw.onnx"))
        for packing in (True, False, "mixed"):
            write("typed.onnx", model(*(typed(kind, shape, packing) for kind in TYPES)))
            compare(f"typed {shape}, packed {packing}", "typed.onnx", loaded("typed.onnx"))
    TALLY.part("wire bytes of all types")
    write("long.onnx", model(*(typed(kind, (33000,), packing, kind + str(packing)) for kind in TYPES
                               for packing in (True, False))))
    compare("beyond a buffer", "long.onnx", loaded("long.onnx"))
    write("sign.onnx", model(*(typed(kind, (50,), True, sign=True) for kind in TYPES if kind != "BOOL" and
                               TYPES[kind][3] == "varint" and TYPES[kind][2] == 5)))
    compare("signs extended", "sign.onnx", loaded("sign.onnx"))
    TALLY.part("long and signed")


def by_helper():
    """Files as the onnx package writes them."""
    for kind in TYPES:
        data_type = getattr(onnx.TensorProto, kind)
        dtype = onnx.helper.tensor_dtype_to_np_dtype(data_type)
        values = np.array([0, 1, 1, 0, 1, 0, 1], dtype=np.float32).astype(dtype)
        tensors = [onnx.numpy_helper.from_array(values, "a"), onnx.numpy_helper.from_array(values[:0], "none")]
        if kind not in ("COMPLEX64", "COMPLEX128"):
            tensors.append(onnx.helper.make_tensor("typed", data_type, [7], [0, 1, 1, 0, 1, 0, 1]))
        graph = onnx.helper.make_graph([], "g", [], [], tensors)
        proto = onnx.helper.make_model(graph, producer_name="judge")
        proto.metadata_props.add(key="k", value="v")
        onnx.save(proto, "helper.onnx")
        compare("helper " + kind, "helper.onnx", loaded("helper.onnx"))
    entries = {one["key"]: one["value"] for one in inspect("helper.onnx")["metadata"]}
    TALLY.check("metadata", (entries.get("k"), entries.get("onnx.producer_name")), ("v", "judge"))
    TALLY.part("onnx.helper")


def nested():
    """Constants, subgraphs, functions, training graphs: each tensor has a unique name."""
    def one(name, values):
        return onnx.helper.make_tensor(name, onnx.TensorProto.FLOAT, [len(values)], values)

    def graph(name, *tensors, nodes=()):
        return onnx.helper.make_graph(list(nodes), name, [], [], list(tensors))

    inner = onnx.helper.make_node("If", ["c"], ["o2"], name="inner", then_branch=graph("t", one("w", [5.])),
                                  else_branch=graph("e", one("only", [6.])))
    outer = onnx.helper.make_node("If", ["c"], ["o1"], name="outer",
                                  then_branch=graph("t", one("w", [2.]), one("x", [3.]), nodes=[inner]),
                                  else_branch=graph("e", one("x", [4.]), nodes=[
                                      onnx.helper.make_node("Constant", [], ["k"], value=one("", [8.]))]))
    loop = onnx.helper.make_node("Loop", [], ["l"], body=graph("b", one("x", [7.])))
    constant = onnx.helper.make_node("Constant", [], ["k"], name="const", value=one("value", [9.]))
    fill = onnx.helper.make_node("ConstantOfShape", ["s"], ["f"], name="fill", value=one("", [10.]))
    main = graph("main", one("w", [1.]), nodes=[outer, loop, constant, fill])
    function = onnx.helper.make_function("pkg", "f", [], ["k"], [
        onnx.helper.make_node("Constant", [], ["k"], name="const", value=one("value", [11.]))],
        [onnx.helper.make_opsetid("", 20)])
    proto = onnx.helper.make_model(main, functions=[function])
    training = proto.training_info.add()
    training.initialization.CopyFrom(graph("i", one("w", [12.])))
    training.algorithm.CopyFrom(graph("a", one("state", [13.])))
    onnx.save(proto, "nested.onnx")
    expected = {"w": 1, "outer/then_branch/w": 2, "outer/then_branch/x": 3, "outer/else_branch/x": 4,
                "outer/then_branch/inner/then_branch/w": 5, "only": 6, "Loop_1/body/x": 7,
                "outer/else_branch/Constant_0/value/k": 8, "const/value/k": 9, "fill/value": 10,
                "pkg.f/const/value/k": 11, "training/initialization/w": 12, "state": 13}
    compare("nested", "nested.onnx", {name: ("FLOAT", np.array([value], np.float32))
                                      for name, value in expected.items()})
    same = [onnx.helper.make_node("If", ["c"], ["o%d" % i], name="same", then_branch=graph("t", one("w", [i + 1.])))
            for i in range(3)]
    onnx.save(onnx.helper.make_model(graph("main", nodes=same)), "same.onnx")
    compare("nodes of one name", "same.onnx", {"same#%d/then_branch/w" % i: ("FLOAT", np.array([i + 1], np.float32))
                                               for i in range(3)})
    deep = graph("d", one("w", [1.]))
    for i in range(30):
        deep = graph("d", one("w", [float(i)]), nodes=[onnx.helper.make_node("If", ["c"], ["o"], name="n%d" % i,
                                                                         then_branch=deep)])
    onnx.save(onnx.helper.make_model(deep), "deep.onnx")
    document = inspect("deep.onnx")
    TALLY.check("a deep model", len(document["tensors"]) if isinstance(document, dict) else document, 31)
    TALLY.part("nested graphs")


def in_other_files():
    """External data in several files, at offsets, in folders, with keys in any order."""
    os.makedirs("m/sub", exist_ok=True)
    proto = onnx.helper.make_model(onnx.helper.make_graph([], "g", [], [], [
        onnx.numpy_helper.from_array(np.frombuffer(random_bytes(kind, 24), dtype=np.uint8).view(
            onnx.helper.tensor_dtype_to_np_dtype(getattr(onnx.TensorProto, kind)))
            if TYPES[kind][0] >= 8 else np.arange(24).astype(
                onnx.helper.tensor_dtype_to_np_dtype(getattr(onnx.TensorProto, kind))), kind) for kind in TYPES]))
    for together in (True, False):
        copy = onnx.ModelProto()
        copy.CopyFrom(proto)
        onnx.save(copy, "m/all.onnx", save_as_external_data=True, all_tensors_to_one_file=together,
                  location="all.data" if together else None, size_threshold=0)
        compare(f"saved by onnx, one file {together}", "m/all.onnx", loaded("m/all.onnx"))
        for file in pathlib.Path("m").iterdir():
            if file.is_file():
                file.unlink()
    data = random_bytes("UINT8", 4096)
    write("m/a.bin", data)
    write("m/sub/b.bin", data[::-1])
    two = model(tensor("z", 1, (4,), external("sub/b.bin", offset=1000, length=16)),
                tensor("y", 1, (4,), external("./sub//b.bin", length=16)),
                tensor("x", 10, (3,), external("a.bin", offset="0007")),
                tensor("w", 22, (4,), external("a.bin", offset=4094, length=2, checksum="no")),
                raw("v", 1, (1,), b"abcd"))
    write("m/two.onnx", two)
    part = {"z": ("FLOAT", np.frombuffer(data[::-1], "<f4", 4, 1000)),
            "y": ("FLOAT", np.frombuffer(data[::-1], "<f4", 4, 0)),
            "x": ("FLOAT16", np.frombuffer(data, "<f2", 3, 7)), "v": ("FLOAT", np.frombuffer(b"abcd", "<f4")),
            "w": ("INT4", np.array([data[4094] & 15, data[4094] >> 4, data[4095] & 15,
                                     data[4095] >> 4], np.uint8))}
    compare("two files", "m/two.onnx", part)
    TALLY.check("files of two", [pathlib.Path(one["path"]).name for one in inspect("m/two.onnx")["shards"]],
                ["two.onnx", "b.bin", "a.bin"])
    os.makedirs("cache/blobs", exist_ok=True)   # like a download cache: links to files in one folder
    os.makedirs("cache/snapshot", exist_ok=True)
    write("cache/blobs/1", model(tensor("x", 10, (3,), external("model.data"))))
    write("cache/blobs/2", data)
    for link, target in (("model.onnx", "1"), ("model.data", "2")):
        if not os.path.islink("cache/snapshot/" + link):
            os.symlink("../blobs/" + target, "cache/snapshot/" + link)
    compare("a cache of links", "cache/snapshot/model.onnx", {"x": ("FLOAT16", np.frombuffer(data, "<f2", 3))})
    if not os.path.islink("m/link.bin"):
        os.symlink("sub/b.bin", "m/link.bin")
    write("m/inner.onnx", model(tensor("x", 10, (3,), external("link.bin"))))
    compare("a link inside", "m/inner.onnx", {"x": ("FLOAT16", np.frombuffer(data[::-1], "<f2", 3))})
    TALLY.part("external data")


def not_numbers():
    """Tensors that are listed but not read."""
    sparse = block(15, block(1, raw("sp", 1, (2,), bytes(8))) + block(2, raw("", 7, (2,), bytes(16))) + number(3, 100))
    write("other.onnx", model(tensor("s", 8, (2,), block(6, "ab"), block(6, "c")), raw("u", 99, (2,), bytes(6)),
                              tensor("z", 0, (1,)), raw("f", 1, (1,), bytes(4)), graph=sparse))
    document = inspect("other.onnx")
    listed = {one["name"]: (one["stored_as"], one["bytes"], one["shape"]) for one in document["tensors"]}
    TALLY.check("others", listed, {"s": ("STRING", 3, [2]), "u": ("unknown type 99", 6, [2]),
                                   "z": ("UNDEFINED", 0, [1]), "f": ("FLOAT", 4, [1]),
                                   "sp": ("sparse FLOAT", len(sparse) - 2, [100])})
    TALLY.check("a note of sparse tensors", [one["code"] for one in document["notes"]], ["sparse"])
    TALLY.check("what is read", written("other.onnx", "f"), bytes(4))
    done = run("cast", "other.onnx", "bf16", "-o", "never.safetensors")
    TALLY.check("what is not", (done.returncode, b"tensor 'sp' is sparse" in done.stderr), (3, True))
    TALLY.part("strings, sparse and unknown tensors")


def unusual():
    """Field orders and repetitions that libraries accept."""
    backwards = block(8, "a") + block(9, b"\0\0\x80\x3f" * 2) + number(2, 10) + number(2, 1) + number(1, 2)
    write("order.onnx", block(7, block(5, backwards)) + block(2, "p") + number(1, 3) + number(1, 10))
    compare("fields in any order", "order.onnx", loaded("order.onnx"))
    twice = block(8, "b") + block(8, "a") + block(9, b"1") + block(9, b"\0\0\x80\x3f") + block(1, b"") + number(2, 1)
    unknown = (tag(500, "fixed32") + b"abcd" + tag(501, "fixed64") + b"12345678" + number(502, 2 ** 64 - 1) +
               block(503, bytes(100)))
    write("twice.onnx", model(twice + unknown, more=unknown))
    compare("single fields twice", "twice.onnx", loaded("twice.onnx"))
    parts = [block(7, block(5, raw(name, 1, (1,), bytes(4)))) for name in "ab"]
    write("parts.onnx", number(1, 10) + parts[0] + block(2, "x") + parts[1])
    compare("a graph in two parts", "parts.onnx", loaded("parts.onnx"))
    both = tensor("a", 1, (1,), numbers(4, [1, 2, 3], "fixed32", True), block(9, b"\0\0\0\x40"))
    write("both.onnx", model(both))
    compare("raw and typed", "both.onnx", loaded("both.onnx"))
    TALLY.part("unusual files")


def main():
    if not onnx or not np or not ml_dtypes:
        TALLY.skip("onnx, numpy or ml_dtypes is not installed")
        return
    with tempfile.TemporaryDirectory(prefix="dtinfo-onnx-") as folder:
        os.chdir(folder)
        not_numbers()
        nested()
        by_helper()
        in_other_files()
        unusual()
        all_types()


main()
TALLY.finish()
