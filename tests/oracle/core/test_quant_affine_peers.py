# SPDX-License-Identifier: MIT
"""Affine quantization against torch (quantize_per_tensor, quantize_per_channel, MinMaxObserver) and onnxruntime
(QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear), code by code and bit by bit.

Usage: test_quant_affine_peers.py QUANT_PROBE [--long]
"""

import warnings

import harness
import quant_arrays as arrays
import quant_model as model

np = arrays.np


# torch.

def torch_affine(tally, probe, torch, count):
    rng = np.random.default_rng(1)
    special = np.array([np.nan, np.inf, -np.inf, 1e10, -1e10, 214748344.8, -12.149999618530273], np.float32)
    kinds = {"int8": (torch.qint8, -128, 127), "uint8": (torch.quint8, 0, 255)}
    for code, (kind, low, high) in kinds.items():
        for scale in np.float32([0.1, 1.0, 0.0235, 3e-5, 7e20, 1e-30, rng.uniform(0.01, 1)]):
            for zero in (low, high, 0, (low + high) // 2 + 3, max(low, -5)):
                x = np.concatenate([special, arrays.hard_affine(rng, low, high, scale, zero, count), special])
                there = torch.quantize_per_tensor(torch.from_numpy(x), float(scale), zero, kind)
                here = arrays.affine(probe, code, low, high, model.RECIPROCAL, model.AS_TORCH, scale, zero, x)
                arrays.same(tally, f"torch.quantize_per_tensor {code} {scale!r} {zero}", here, there.int_repr().numpy(), x)
                arrays.same(tally, f"torch dequantize {code} {scale!r} {zero}",
                     arrays.affine_back(probe, code, scale, zero, here), there.dequantize().numpy(), here)
                both = torch.from_numpy(np.stack([x, x]))
                there = torch.quantize_per_channel(both, torch.tensor([1.0, float(scale)], dtype=torch.float64),
                                                   torch.tensor([0, zero]), 0, kind)
                here = arrays.affine(probe, code, low, high, model.RECIPROCAL, model.AS_TORCH_CHANNEL, scale, zero, x)
                arrays.same(tally, f"torch.quantize_per_channel {code} {scale!r} {zero}", here, there.int_repr()[1].numpy(), x)


def torch_observers(tally, probe, torch, count):
    from torch.ao.quantization import MinMaxObserver
    rng = np.random.default_rng(2)
    for code, kind, signed in (("int8", torch.qint8, True), ("uint8", torch.quint8, False)):
        for symmetry, scheme in ((model.NONE, torch.per_tensor_affine), (model.HALF, torch.per_tensor_symmetric)):
            ranges = np.sort(np.ldexp(rng.standard_normal((count, 2)), rng.integers(-30, 60, (count, 1)))).astype(np.float32)
            ranges = np.concatenate([np.float32([[-1, 3], [0, 0], [0, 1e-40], [1, 2], [-2, -1]]), ranges])
            answer = arrays.ask(probe, f"choose {code} {symmetry} {model.ZERO_TORCH} {len(ranges)}", arrays.as_words(ranges)).reshape(-1, 4)
            for (a, b), got in zip(ranges, answer):
                observer = MinMaxObserver(dtype=kind, qscheme=scheme)
                observer(torch.tensor([a, b]))
                scale, zero = observer.calculate_qparams()
                tally.check(f"MinMaxObserver {code} {scheme} of {a!r} {b!r}",
                            [int(got[0]), int(np.int32(got[1]))], [model.bits(scale.item()), int(zero)])


# onnxruntime.

def session(onnxruntime, onnx, op, inputs, outputs):
    """inputs: (name, type, rank)."""
    helper = onnx.helper
    graph = helper.make_graph(
        [helper.make_node(op, [n for n, _, _ in inputs], [n for n, _ in outputs])], "g",
        [helper.make_tensor_value_info(n, t, [None] * r) for n, t, r in inputs],
        [helper.make_tensor_value_info(n, t, None) for n, t in outputs])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
    return onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])


def onnx_affine(tally, probe, onnxruntime, onnx, count):
    rng = np.random.default_rng(3)
    types = onnx.TensorProto
    kinds = {"int8": (types.INT8, np.int8), "uint8": (types.UINT8, np.uint8), "int16": (types.INT16, np.int16),
             "uint16": (types.UINT16, np.uint16)}
    for code, (kind, numpy_type) in kinds.items():
        low, high = model.integer_range(code)
        forth = session(onnxruntime, onnx, "QuantizeLinear",
                        [("x", types.FLOAT, 1), ("s", types.FLOAT, 0), ("z", kind, 0)], [("y", kind)])
        back = session(onnxruntime, onnx, "DequantizeLinear",
                       [("x", kind, 1), ("s", types.FLOAT, 0), ("z", kind, 0)], [("y", types.FLOAT)])
        for scale in np.float32([0.1, 1.0, 0.0235, 3e-5, 7e20, 1e-30, rng.uniform(0.01, 1)]):
            for zero in (low, high, (low + high) // 2 + 3):
                # NaN becomes low there, but the zero point here
                x = np.concatenate([np.float32([np.inf, -np.inf]), arrays.hard_affine(rng, low, high, scale, zero, count)])
                z = np.array(zero, numpy_type)
                there = forth.run(None, {"x": x, "s": np.array(scale), "z": z})[0]
                here = arrays.affine(probe, code, low, high, model.TRUE, model.CLAMP, scale, zero, x)
                arrays.same(tally, f"QuantizeLinear {code} {scale!r} {zero}", here, there, x)
                arrays.same(tally, f"DequantizeLinear {code} {scale!r} {zero}", arrays.affine_back(probe, code, scale, zero, here),
                     back.run(None, {"x": there, "s": np.array(scale), "z": z})[0], here)
    dynamic = session(onnxruntime, onnx, "DynamicQuantizeLinear", [("x", types.FLOAT, 1)],
                      [("y", types.UINT8), ("s", types.FLOAT), ("z", types.UINT8)])
    ranges = np.sort(np.ldexp(rng.standard_normal((20 * count, 2)), rng.integers(-90, 90, (20 * count, 1)))).astype(np.float32)
    ranges = np.concatenate([np.float32([[-1, 3], [0, 0], [1, 2], [-2, -1]]), ranges])
    answer = arrays.ask(probe, f"choose uint8 {model.NONE} {model.ZERO_ONNX} {len(ranges)}", arrays.as_words(ranges)).reshape(-1, 4)
    for ends, got in zip(ranges, answer):
        _, scale, zero = dynamic.run(None, {"x": ends})
        tally.check(f"DynamicQuantizeLinear of {ends!r}", [int(x) for x in got[:2]], [model.bits(float(scale)), int(zero)])


def main():
    probe, long = harness.arguments()
    tally = harness.Tally()
    warnings.simplefilter("ignore")
    if np is None:
        tally.skip("numpy is missing")
        tally.finish()
    count = 20000 if long else 500
    torch = harness.have("torch")
    if torch:
        torch_affine(tally, probe, torch, count // 8)
        torch_observers(tally, probe, torch, count // 10)
        tally.part("torch")
    else:
        tally.skip("torch is missing")
    onnxruntime, onnx = harness.have("onnxruntime"), harness.have("onnx")
    if onnxruntime and onnx:
        onnx_affine(tally, probe, onnxruntime, onnx, count // 5)
        tally.part("onnxruntime")
    else:
        tally.skip("onnxruntime or onnx is missing")
    tally.finish()


main()
