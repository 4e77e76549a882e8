#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares our quantization of fp32 arrays with that of other packages, interleaved in one process.

    quant_peers.py LIBRARY [--cases int8:given,mxfp4:blocks,...] [--size ROWSxCOLUMNS,...]
                   [--threads 1,2] [--time SECONDS] [--json FILE]

LIBRARY is the dtinfo_peers module of the build. A case is a dtype and a way: "given" (one known scale), "tensor"
and "rows" (scales computed from the numbers, which are read twice), "blocks", and for nvfp4 "two" (blocks and a
scale per tensor). All but "given" are also measured when they dequantize. The other packages are torch,
onnxruntime, torchao, ml_dtypes with numpy, and gguf. If they allocate their result, their time includes that. If
they do not compute scales themselves, they get ours, marked "scales given". Rounds and ratios are as in peers.py:
above 1 we are faster. "same" is the share of codes (or of dequantized numbers) that equal ours.
"""
import argparse
import ctypes
import gc
import importlib
import json
import random
import statistics
import sys
import warnings

import peers

CASES = "int8:given,int8:tensor,int8:rows,mxfp8_e4m3:blocks,mxfp4:blocks,nvfp4:two,nvfp4:blocks,q8_0:blocks,q4_0:blocks"
LENGTH = {"mxfp8_e4m3": 32, "mxfp4": 32, "nvfp4": 16, "q8_0": 32, "q4_0": 32}
EMAX = {"mxfp8_e4m3": 8, "mxfp4": 2}
MOST = {"mxfp8_e4m3": 448.0, "mxfp4": 6.0}
GIVEN = 4 / 127  # the known scale: int8 codes for numbers up to 4


class Ours:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.dti_quant_peer_open.restype = ctypes.c_void_p
        self.library.dti_quant_peer_open.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64,
                                                     ctypes.c_uint64, ctypes.c_float, ctypes.c_size_t]
        self.library.dti_quant_peer_close.argtypes = [ctypes.c_void_p]
        self.library.dti_quant_peer_describe.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p,
                                                         ctypes.c_size_t]
        self.library.dti_quant_peer_sizes.argtypes = [ctypes.c_void_p] + [ctypes.POINTER(ctypes.c_uint64)] * 2
        self.library.dti_quant_peer_run.restype = ctypes.c_uint64
        self.library.dti_quant_peer_run.argtypes = [ctypes.c_void_p] * 5 + [ctypes.c_int, ctypes.c_uint64]

    def open(self, dtype, way, rows, columns, threads):
        handle = self.library.dti_quant_peer_open(dtype.encode(), way.encode(), rows, columns, GIVEN, threads)
        if not handle:
            sys.exit("%s:%s with %d threads cannot be had" % (dtype, way, threads))
        return handle

    def describe(self, handle, back):
        text = ctypes.create_string_buffer(512)
        self.library.dti_quant_peer_describe(handle, back, text, 512)
        return text.value.decode()

    def sizes(self, handle):
        codes, scales = ctypes.c_uint64(), ctypes.c_uint64()
        self.library.dti_quant_peer_sizes(handle, codes, scales)
        return codes.value, scales.value


class Packages:
    """The installed packages."""

    def __init__(self, threads):
        self.np = peers.optional("numpy")
        self.types = peers.optional("ml_dtypes")
        self.torch = peers.optional("torch")
        self.gguf = peers.optional("gguf")
        self.ort = peers.optional("onnxruntime")
        self.helper = peers.optional("onnx.helper")
        self.mx, self.nv = None, None
        if self.torch:
            self.torch.set_num_threads(threads)
            self.mx = self.of_torchao("mx_tensor")
            self.nv = self.of_torchao("nvfp4_tensor")
        self.threads = threads

    @staticmethod
    def of_torchao(name):
        try:
            return importlib.import_module("torchao.prototype.mx_formats." + name)
        except ImportError:
            print("torchao's %s is not installed; left out" % name)
            return None

    def versions(self):
        modules = (self.np, self.types, self.torch, self.ort, sys.modules.get("torchao"))
        return {module.__name__: module.__version__ for module in modules if module}


def session(packages, nodes, inputs, outputs):
    """Builds an onnxruntime model of these nodes, bound to our arrays. Returns a call without arguments, and the
    outputs by name."""
    helper, ort = sys.modules["onnx"].helper, packages.ort
    kinds = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6}
    infos = [[helper.make_tensor_value_info(name, kinds[str(array.dtype)], list(array.shape))
              for name, array in group.items()] for group in (inputs, outputs)]
    graph = helper.make_graph([helper.make_node(*node, **named) for node, named in nodes], "g", *infos)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    options = ort.SessionOptions()
    options.intra_op_num_threads = packages.threads
    runner = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = runner.io_binding()
    for name, array in inputs.items():
        binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array))
    values = {name: ort.OrtValue.ortvalue_from_numpy(array) for name, array in outputs.items()}
    for name, value in values.items():
        binding.bind_ortvalue_output(name, value)
    return lambda: runner.run_with_iobinding(binding), values


def onnx_candidates(packages, way, data, back):
    if not (packages.ort and packages.helper):
        return
    np, x = packages.np, data["numbers"]
    rows = {"axis": 0} if way == "rows" else {}
    scales = data["scales"].reshape(-1) if way == "rows" else data["scales"].reshape(())
    zeros = np.zeros(scales.shape, np.int8)
    if way == "tensor" and not back:
        outputs = {"y": np.empty(x.shape, np.uint8), "s": np.empty((), np.float32), "z": np.empty((), np.uint8)}
        call, _ = session(packages, [((("DynamicQuantizeLinear"), ["x"], ["y", "s", "z"]), {})], {"x": x}, outputs)
        yield "onnxruntime uint8", call, None
        return
    if back:
        inputs, outputs = {"x": data["codes"], "s": scales, "z": zeros}, {"y": np.empty(x.shape, np.float32)}
        node = (("DequantizeLinear", ["x", "s", "z"], ["y"]), rows)
    else:
        inputs, outputs = {"x": x, "s": scales, "z": zeros}, {"y": np.empty(x.shape, np.int8)}
        node = (("QuantizeLinear", ["x", "s", "z"], ["y"]), rows)
    call, values = session(packages, [node], inputs, outputs)
    name = "onnxruntime" + (", scales given" if way == "rows" and not back else "")
    yield name, call, lambda _: values["y"].numpy()


def torch_affine(packages, way, data, back):
    torch = packages.torch
    if not torch:
        return
    x = torch.from_numpy(data["numbers"])
    scales = torch.from_numpy(data["scales"].astype("float64").reshape(-1))
    zeros = torch.zeros(len(scales), dtype=torch.int64)

    def codes(result):
        return result.int_repr().numpy()

    if way == "rows":
        def quantize():
            found = x.abs().amax(1) / 127
            return torch.quantize_per_channel(x, found.double(), zeros, 0, torch.qint8)
    elif way == "tensor":
        def quantize():
            low, high = torch.aminmax(x)
            return torch.quantize_per_tensor(x, float(torch.maximum(-low, high)) / 127, 0, torch.qint8)
    else:
        def quantize():
            return torch.quantize_per_tensor(x, float(scales[0]), 0, torch.qint8)
    if not back:
        yield "torch", quantize, codes
    else:
        stored = quantize()
        yield "torch", stored.dequantize, lambda result: result.numpy()


def numpy_affine(packages, way, data, back):
    np, x = packages.np, data["numbers"]
    scales = data["scales"].reshape(-1, 1) if way == "rows" else data["scales"].reshape(())
    if back:
        yield "numpy", lambda: data["codes"].astype(np.float32) * scales, lambda result: result
        return

    def quantize():
        found = scales
        if way != "given":
            found = np.abs(x).max(axis=1 if way == "rows" else None, keepdims=way == "rows") / np.float32(127)
        return np.clip(np.rint(x / found), -128, 127).astype(np.int8)
    yield "numpy", quantize, lambda result: result


def torchao_blocks(packages, dtype, data, back):
    torch = packages.torch
    if not torch:
        return
    x = torch.from_numpy(data["numbers"])
    if dtype in EMAX and packages.mx:
        kind = torch.float8_e4m3fn if dtype == "mxfp8_e4m3" else torch.float4_e2m1fn_x2
        scale, codes = packages.mx.to_mx(x, kind, 32)
        if back:
            yield ("torchao", lambda: packages.mx.to_dtype(codes, scale, kind, 32, torch.float32),
                   lambda result: result.numpy())
        else:
            yield "torchao", lambda: packages.mx.to_mx(x, kind, 32), lambda r: r[1].view(torch.uint8).numpy()
    if dtype == "nvfp4" and packages.nv and not back:
        def one():
            return packages.nv.nvfp4_quantize(x, 16)

        def two():
            scale = packages.nv.per_tensor_amax_to_scale(torch.max(torch.abs(x)))
            return packages.nv.nvfp4_quantize(x, 16, scale)
        yield "torchao", two if data["way"] == "two" else one, lambda r: r[1].view(torch.uint8).numpy()


def numpy_blocks(packages, dtype, data, back):
    np, types = packages.np, packages.types
    if dtype not in EMAX or not types:
        return
    kind = np.dtype(types.float8_e4m3fn if dtype == "mxfp8_e4m3" else types.float4_e2m1fn)
    x = data["numbers"].reshape(-1, 32)
    most = np.float32(MOST[dtype])

    def quantize():
        exponents = np.frexp(np.abs(x).max(axis=1, keepdims=True))[1] - 1 - EMAX[dtype]
        scaled = np.clip(np.ldexp(x, -exponents), -most, most)
        return scaled.astype(kind), exponents
    if not back:
        yield "ml_dtypes, not packed", quantize, (lambda r: r[0].view(np.uint8)) if dtype == "mxfp8_e4m3" else None
    else:
        codes, exponents = quantize()
        yield ("ml_dtypes, not packed", lambda: np.ldexp(codes.astype(np.float32), exponents),
               lambda result: result)


def gguf_blocks(packages, dtype, data, back):
    names = {"q8_0": "Q8_0", "q4_0": "Q4_0", "mxfp4": "MXFP4", "nvfp4": "NVFP4"}
    if not packages.gguf or dtype not in names or data["way"] == "two":
        return
    quants = packages.gguf.quants
    kind = getattr(packages.gguf.GGMLQuantizationType, names[dtype], None)
    try:
        stored = quants.quantize(data["numbers"], kind)
    except (NotImplementedError, AttributeError):
        return
    if back:
        yield "gguf", lambda: quants.dequantize(stored, kind), lambda result: result
    else:
        yield "gguf", lambda: quants.quantize(data["numbers"], kind), None


def candidates_of(packages, dtype, way, data, back):
    if not packages.np:
        return
    if dtype == "int8":
        makers = [torch_affine(packages, way, data, back), onnx_candidates(packages, way, data, back),
                  numpy_affine(packages, way, data, back)]
    else:
        makers = [maker(packages, dtype, data, back) for maker in (torchao_blocks, numpy_blocks, gguf_blocks)]
    for maker in makers:
        yield from maker


def share_alike(packages, result, want):
    """The share of elements with the same bits; None if there is nothing to compare."""
    if result is None or result.nbytes != want.nbytes:
        return None
    np = packages.np
    kind = np.uint32 if want.dtype == np.float32 else np.uint8
    return float(np.mean(np.ascontiguousarray(result).reshape(-1).view(kind) == want.reshape(-1).view(kind)))


def measure(ours, packages, case, shape, threads, options, order):
    np = packages.np
    dtype, way = case.split(":")
    rows, columns = shape
    handle = ours.open(dtype, way, rows, columns, threads)
    code_bytes, scale_count = ours.sizes(handle)
    buffers = [peers.Buffer(size) for size in (4 * rows * columns, code_bytes, 4 * scale_count, 4 * scale_count,
                                               4 * rows * columns)]
    numbers = np.frombuffer(buffers[0].memory, np.float32).reshape(rows, columns)
    numbers[...] = np.random.default_rng(options.seed).standard_normal((rows, columns), np.float32)
    addresses = [buffer.address for buffer in buffers]
    ours.library.dti_quant_peer_run(handle, *addresses[:4], 0, 1)
    ours.library.dti_quant_peer_run(handle, addresses[4], *addresses[1:4], 1, 1)
    codes = np.frombuffer(buffers[1].memory, np.int8 if dtype == "int8" else np.uint8)
    data = {"numbers": numbers, "way": way, "scales": np.frombuffer(buffers[2].memory, np.float32)[:scale_count],
            "codes": codes.reshape(rows, -1), "back": np.frombuffer(buffers[4].memory, np.float32)}
    for back in (0, 1):
        if back and way == "given":
            continue

        def own(passes, back=back):
            first = addresses[4] if back else addresses[0]
            return ours.library.dti_quant_peer_run(handle, first, *addresses[1:4], back, passes)
        others = list(candidates_of(packages, dtype, way, data, back))
        alike = {name: take and share_alike(packages, take(call()), data["back"] if back else codes)
                 for name, call, take in others}
        both = [("ours", own)] + [(name, peers.call_passes(call)) for name, call, _ in others]
        gc.disable()
        rounds = peers.run_rounds(both, options.time, order)
        gc.enable()
        clean = [row for row in rounds if all(good for _, good in row)]
        lines = rounds if len(clean) < 5 else clean
        result = {"dtype": dtype, "way": way, "back": bool(back), "rows": rows, "columns": columns,
                  "threads": threads, "kernel": ours.describe(handle, back), "rounds": len(lines),
                  "disturbed": len(clean) < 5, "median_seconds": statistics.median(row[0][0] for row in lines),
                  "minimum_seconds": min(row[0][0] for row in lines), "peers": []}
        for i, (name, _) in enumerate(both[1:], 1):
            ratios = [row[i][0] / row[0][0] for row in lines]
            ends = peers.interval(ratios)
            result["peers"].append({
                "name": name, "median_seconds": statistics.median(row[i][0] for row in lines),
                "minimum_seconds": min(row[i][0] for row in lines), "ratio": statistics.median(ratios),
                "low": ends and ends[0], "high": ends and ends[1], "same": alike[name]})
        show(result)
        yield result
    ours.library.dti_quant_peer_close(handle)


def show(result):
    each = 1e9 / result["rows"] / result["columns"]
    print("%s %s %s  %dx%d  %d thread%s  %s  %d rounds%s" %
          ("dequantize" if result["back"] else "quantize", result["dtype"], result["way"], result["rows"],
           result["columns"], result["threads"], "" if result["threads"] == 1 else "s", result["kernel"],
           result["rounds"], ", disturbed" if result["disturbed"] else ""))
    print("  %-26s %9.4f ns/element, at best %9.4f" %
          ("ours", result["median_seconds"] * each, result["minimum_seconds"] * each))
    for peer in result["peers"]:
        ends = "" if peer["low"] is None else "(%.2f to %.2f)" % (peer["low"], peer["high"])
        same = "" if peer["same"] is None else "%.4f %% the same" % (100 * peer["same"])
        print("  %-26s %9.4f ns/element  %7.2f x ours  %-18s %s" %
              (peer["name"], peer["median_seconds"] * each, peer["ratio"], ends, same))
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description="our quantization beside that of others")
    parser.add_argument("library")
    parser.add_argument("--cases", default=CASES)
    parser.add_argument("--size", default="2048x1024,4096x4096", help="ROWSxCOLUMNS, columns a multiple of 32")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--time", type=float, default=0.5, help="seconds for each measurement")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", help="write the results there, too")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # deprecated functions are compared, too
    ours, order, results, versions = Ours(options.library), random.Random(options.seed), [], {}
    for threads in map(int, options.threads.split(",")):
        packages = Packages(threads)
        versions = packages.versions()
        if not packages.np:
            sys.exit("numpy is needed")
        print("  ".join("%s %s" % item for item in versions.items()))
        for size in options.size.split(","):
            shape = tuple(map(int, size.split("x")))
            if len(shape) != 2 or shape[1] % 32:
                sys.exit("--size takes ROWSxCOLUMNS, columns a multiple of 32; '%s' is not" % size)
            for case in options.cases.split(","):
                results += measure(ours, packages, case, shape, threads, options, order)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump({"packages": versions, "results": results}, out, indent=1)
            out.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
