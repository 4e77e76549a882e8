# SPDX-License-Identifier: MIT
"""Models with quantized weights, what other programs compute from them, and what dtinfo reads from them."""
import json
import os
import random
import subprocess
import sys

from harness import Tally, have

DTINFO = os.path.abspath(sys.argv[1])
TALLY = Tally()
RANDOM = random.Random(20)
onnx, np, ml_dtypes, ort = have("onnx"), have("numpy"), have("ml_dtypes"), have("onnxruntime")
if not (onnx and np and ml_dtypes):
    print("skipped: this needs onnx, numpy and ml_dtypes")
    sys.exit(77)
import onnx.reference  # noqa: E402

np.seterr(all="ignore")
CODES = ["INT8", "UINT8", "INT16", "UINT16", "INT32", "INT4", "UINT4", "INT2", "UINT2", "FLOAT8E4M3FN",
         "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "FLOAT4E2M1", "FLOAT6E2M3", "FLOAT6E3M2"]
WIDTHS = {"INT4": 4, "UINT4": 4, "INT2": 2, "UINT2": 2, "FLOAT4E2M1": 4, "FLOAT6E2M3": 6, "FLOAT6E3M2": 6, "INT16": 16,
          "UINT16": 16, "INT32": 32}
SCALES = {"FLOAT": "<u4", "FLOAT16": "<u2", "BFLOAT16": "<u2"}
OURS = {"FLOAT": "fp32", "FLOAT16": "fp16", "BFLOAT16": "bf16"}


def kind(name):
    return getattr(onnx.TensorProto, name)


def numpy_type(name):
    return onnx.helper.tensor_dtype_to_np_dtype(kind(name))


def tensor(name, data_type, shape, codes):
    """An initializer of raw codes, given as integers."""
    bits = WIDTHS.get(data_type, 8)
    whole = 0
    if bits in (8, 16, 32):
        data = b"".join(code.to_bytes(bits // 8, "little") for code in codes)
    else:
        for i, code in enumerate(codes):
            whole |= code << bits * i
        data = whole.to_bytes((len(codes) * bits + 7) // 8, "little")
    proto = onnx.TensorProto(name=name, data_type=kind(data_type), dims=shape)
    proto.raw_data = data
    return proto


def random_codes(data_type, count):
    bits = WIDTHS.get(data_type, 8)
    codes = [RANDOM.getrandbits(bits) for _ in range(count)]
    if data_type.startswith("FLOAT8"):   # all NaNs are equal for us
        codes = [code if code & 0x7f < 0x7c and code != 0x80 else 0x30 for code in codes]
    return codes


def array(name, values, dtype=None):
    return onnx.numpy_helper.from_array(np.asarray(values, dtype=dtype), name)


def size_of(shape):
    return int(np.prod(shape, dtype=np.int64))


def random_scales(data_type, shape):
    values = np.array([RANDOM.uniform(0.001, 2) * RANDOM.choice((1, 1, 1, -1)) for _ in range(size_of(shape))])
    return values.astype(numpy_type(data_type)).reshape(shape)


def model(nodes, initializers, inputs=(), output="y", kind_of_output=None, opset=25, functions=()):
    """A model whose output is `output`."""
    graph = onnx.helper.make_graph(list(nodes), "g", list(inputs), [onnx.helper.make_tensor_value_info(
        output, kind_of_output or onnx.TensorProto.FLOAT, None)], list(initializers))
    return onnx.helper.make_model(graph, ir_version=13 if opset > 24 else 10, functions=list(functions), opset_imports=[
        onnx.helper.make_opsetid("", opset), onnx.helper.make_opsetid("com.microsoft", 1)])


def linear(codes="x", scale="s", zero=None, output="y", **attributes):
    return onnx.helper.make_node("DequantizeLinear", [codes, scale] + ([zero] if zero is not None else []), [output],
                                 **attributes)


def reference(proto):
    return onnx.reference.ReferenceEvaluator(proto).run(None, {})[0]


def session(proto, feeds=None):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return ort.InferenceSession(proto.SerializeToString(), options).run(None, feeds or {})[0]


def by_ort(proto, feeds=None):
    """None if it has no kernel for the types or the opset."""
    try:
        return session(proto, feeds)
    except Exception as error:  # pylint: disable=broad-exception-caught
        text = str(error)
        assert any(word in text for word in ("NOT_IMPLEMENTED", "Type Error", "INVALID_GRAPH", "opset")), text
        return None


def run(*words):
    return subprocess.run([DTINFO, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def listed(path, *more):
    done = run("inspect", path, "--json", *more)
    if done.returncode != 0:
        return {"error": done.stderr.decode()}
    return json.loads(done.stdout)["files"][0]


def numbers(path, dtype="fp32", *more):
    """All tensors of a file as dtinfo dequantizes them."""
    done = run("quant", path, "--dequant", dtype, "--as", "safetensors", "-o", "-", "-q", *more)
    if done.returncode != 0:
        return {"error": done.stderr.decode()}
    size = int.from_bytes(done.stdout[:8], "little")
    header, data = json.loads(done.stdout[8:8 + size]), done.stdout[8 + size:]
    return {name: data[slice(*one["data_offsets"])] for name, one in header.items() if name != "__metadata__"}


def bits_of(values, product=False):
    """fp32 bits with a single NaN; product: also a single zero."""
    values = np.ascontiguousarray(np.asarray(values).astype(np.float32)) + np.float32(0 if product else -0.0)
    codes = values.view("<u4").copy()
    codes[np.isnan(values)] = 0x7fc00000
    return codes.tobytes()


def same(subject, proto, expected, name="x", form=None, judges=(), product=False):
    """What dtinfo reads for a model's tensor, against a reference's numbers. product: the reference is a sum with
    zeros, which never gives -0."""
    with open("model.onnx", "wb") as file:
        file.write(proto if isinstance(proto, bytes) else proto.SerializeToString())
    got = numbers("model.onnx")
    mine = got.get(name, got.get("error", sorted(got)))
    if product and isinstance(mine, bytes):
        mine = bits_of(np.frombuffer(mine, "<f4"), True)
    TALLY.check(subject, mine, bits_of(expected, product))
    for other, text in judges:
        TALLY.check(f"{subject}: {text} agrees", bits_of(other), bits_of(expected))
    if form:
        one = [tensor for tensor in listed("model.onnx").get("tensors", []) if tensor["name"] == name]
        quantized = (one[0]["quantized"] if one else None) or {}
        TALLY.check(f"{subject}: form", {key: quantized.get(key) for key in form}, form)
        TALLY.check(f"{subject}: shape", one[0]["shape"] if one else None, list(np.shape(expected)))
