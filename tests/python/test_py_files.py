# SPDX-License-Identifier: MIT
"""Files, quantization and expressions from Python: against safetensors, numpy, and arithmetic in numpy."""
import json
import os
import struct
import tempfile
import unittest

import dtinfo
import ml_dtypes
import numpy as np
from dtinfo import testing


def safetensors(tensors):
    """A file from its definition: the length of a JSON header, the header, the data."""
    header, data = {}, b""
    for name, (dtype, array) in tensors.items():
        raw = array.tobytes()
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.x = np.arange(24, dtype=np.float32).reshape(4, 6) / 8
        self.half = self.x.astype(ml_dtypes.bfloat16)
        self.bytes = safetensors({"x": ("F32", self.x), "half": ("BF16", self.half), "none": ("F32", self.x[:0])})
        self.path = os.path.join(self.folder.name, "a.safetensors")
        with open(self.path, "wb") as file:
            file.write(self.bytes)

    def test_open(self):
        descriptor = os.open(self.path, os.O_RDONLY)
        self.addCleanup(os.close, descriptor)
        import pathlib
        for source in (self.path, pathlib.Path(self.path), descriptor, self.bytes, memoryview(self.bytes)):
            with dtinfo.open(source) as file:
                self.assertEqual((len(file), list(file), file.container), (3, ["x", "half", "none"], "safetensors"))
                self.assertIn("x", file)
                tensor = file["x"]
                self.assertEqual((tensor.shape, tensor.dtype.name, tensor.stored_as), ((4, 6), "fp32", "F32"))
                self.assertEqual(tensor.read().tolist(), self.x.tolist())
                self.assertEqual(np.asarray(tensor).tolist(), self.x.tolist())
                self.assertEqual(tensor[1:3].tolist(), self.x[1:3].tolist())
                self.assertEqual(tensor[-1].tolist(), self.x[-1].tolist())
                self.assertEqual(tensor.read(5, 3).tolist(), self.x.ravel()[5:8].tolist())
                self.assertEqual(file["half"].numpy().dtype, self.half.dtype)
                self.assertEqual(file["half"].numpy().tobytes(), self.half.tobytes())
                self.assertEqual(file["none"].numpy().shape, (0, 6))
                self.assertEqual(float(tensor.stats().max), float(self.x.max()))
                self.assertIn("half", repr(file))
                self.assertIn("<table>", file._repr_html_())
            self.assertRaises(ValueError, tensor.read)
        with dtinfo.open(self.path) as file:
            self.assertIsInstance(file["x"].numpy(), np.memmap)
            self.assertNotIsInstance(file["x"].numpy(copy=True), np.memmap)
            self.assertRaises(dtinfo.DataError, file["x"].read, 20, 10)

    def test_errors(self):
        with dtinfo.open(self.path) as file, self.assertRaises(KeyError) as caught:
            file["hal"]
        self.assertIn("half", str(caught.exception))
        with self.assertRaises(FileNotFoundError):
            dtinfo.open(os.path.join(self.folder.name, "none.safetensors"))
        with self.assertRaises(dtinfo.DataError) as caught:
            dtinfo.open(self.bytes[:60], name="cut")
        self.assertIn("cut", str(caught.exception))
        self.assertRaises(TypeError, dtinfo.open, None)
        self.assertRaises(TypeError, dtinfo.open, 1.5)

    def test_save(self):
        path = os.path.join(self.folder.name, "new.safetensors")
        tensors = {"t": self.x.T, "codes": dtinfo.cast(self.x, "fp8_e4m3fn"), "scalar": np.float32(3)}
        dtinfo.save(path, tensors, metadata={"from": "a test"})
        with open(path, "rb") as file:
            size, = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(size))
            data = file.read()
        self.assertEqual(header["__metadata__"], {"from": "a test"})
        begin, end = header["t"]["data_offsets"]
        self.assertEqual(data[begin:end], np.ascontiguousarray(self.x.T).tobytes())
        self.assertEqual((header["codes"]["dtype"], header["scalar"]["shape"]), ("F8_E4M3", []))
        with self.assertRaises(dtinfo.WriteError) as caught:
            dtinfo.save(path, tensors)
        self.assertEqual(caught.exception.remedy, "replace")
        self.assertIn("force=True", str(caught.exception))
        with dtinfo.open(path) as old:
            dtinfo.save(path + ".npz", {"t": old["t"]}, container="npz")
            dtinfo.save(path, {"t": old["t"]}, force=True)
        self.assertEqual(np.load(path + ".npz")["t"].tolist(), self.x.T.tolist())
        self.assertEqual(dtinfo.open(path).metadata, {})

    def test_writer(self):
        path = os.path.join(self.folder.name, "new.npy")
        with self.assertRaises(ZeroDivisionError), dtinfo.Writer(path) as writer:
            writer.tensor("x", "fp32", (4, 6))
            1 / 0
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["a.safetensors"])
        with dtinfo.Writer(path) as writer:
            writer.tensor("x", "fp32", (4, 6))
            writer.write("x", self.x[2:], 12)
            writer.write("x", self.x[:2])
        self.assertEqual(np.load(path).tolist(), self.x.tolist())
        with self.assertRaises(dtinfo.ArgumentError), dtinfo.Writer(path + ".npy") as writer:
            writer.tensor("x", "fp32", (4, 6))
        self.assertRaises(ValueError, writer.commit)

    def test_quantize(self):
        x = np.random.default_rng(3).standard_normal((8, 64)).astype(np.float32)
        q = dtinfo.quantize(x, "int8", per="channel", report=True)
        scale = np.abs(x).max(axis=1, keepdims=True) / np.float32(127)
        codes = np.clip(np.rint(x / scale), -127, 127)
        self.assertEqual(np.asarray(q.codes).tolist(), codes.tolist())
        self.assertEqual(np.asarray(q.scales).ravel().tolist(), scale.ravel().tolist())
        self.assertEqual(q.dequantize().tolist(), (codes.astype(np.float32) * scale).tolist())
        self.assertEqual(q.report.elements, 512)
        for name, options in (("mxfp4", {}), ("nvfp4", {}), ("nf4", {"nested": True}), ("q4_k", {}),
                              ("uint4", {"per": "block", "block": 32}), ("fp8_e4m3fn", {"scale": 0.5}),
                              ("q8_0", {"gguf": True})):
            given = x if name != "q4_k" else np.tile(x, 4)
            q = dtinfo.quantize(given, name, **options)
            again = dtinfo.Quantized(name, q.shape, q.codes, q.scales, q.zero_points, q.tensor_scale, q.nested_scales,
                                     q.nested_map, **options)
            first, second = q.dequantize(), again.dequantize()
            self.assertIsInstance(first, np.ndarray)
            self.assertEqual(first.tobytes(), second.numpy().tobytes())
            self.assertLess(np.abs(first - given).max(), 0.6, name)
            half = dtinfo.dequantize(q, "bf16")
            self.assertEqual(half.tobytes(), dtinfo.cast(first, "bf16").tobytes())
        with self.assertRaises(ValueError):
            dtinfo.Quantized("int8", (8, 65), q.codes).dequantize()
        with self.assertRaises(dtinfo.ArgumentError):
            dtinfo.quantize(x, "mxfp4", per="channel")
        self.assertIn("nvfp4", [block.name for block in dtinfo.blocks()])

    def test_calc(self):
        x = np.array([256, 1, 1], np.float32)
        result, report = dtinfo.calc("sum(x)", "bf16", x=x, report=True)
        self.assertEqual((float(result), report.absorbed), (256, 2))
        self.assertEqual(float(dtinfo.calc("sum(x)", "bf16", x=x, accumulate="fp32")), 258)
        self.assertEqual(dtinfo.calc("x * y + 1", "fp32", x=x, y=[1, 2, 3]).tolist(), [257, 3, 4])
        self.assertEqual(dtinfo.calc("seed + 1", "fp32", {"seed": x}).tolist(), [257, 2, 2])
        with self.assertRaises(dtinfo.ArgumentError):
            dtinfo.calc("x +", "fp32", x=x)
        with self.assertRaises(dtinfo.ArgumentError):
            dtinfo.calc("y + 1", "fp32", x=x)

    def test_stats_and_compare(self):
        x = np.array([[1, -2, np.nan], [np.inf, 0, 1e-40]], np.float32)
        stats = dtinfo.stats(x.T)
        self.assertEqual((stats.elements, stats.nan, stats.inf, stats.zeros, stats.subnormals), (6, 1, 1, 1, 1))
        self.assertEqual((stats.min, stats.min_index, stats.first_nan), (-2, 2, 4))
        self.assertFalse(stats.fits("int8"))
        difference = dtinfo.compare(x, x)
        self.assertFalse(difference)
        y = x.copy()
        y[0, 0] = 1.5
        self.assertEqual((dtinfo.compare(x, y).max_absolute, dtinfo.compare(x, y).differing), (0.5, 1))
        self.assertRaises(ValueError, dtinfo.compare, x, x[:1])

    def test_assertions(self):
        x = np.linspace(1, 2, 100, dtype=np.float32)
        testing.assert_close_in_ulps(x, x + 2.0**-8, "bf16", ulps=1)
        with self.assertRaisesRegex(AssertionError, "ulp of bf16"):
            testing.assert_close_in_ulps(x, x + 2.0**-5, "bf16", ulps=2)
        with self.assertRaisesRegex(AssertionError, "NaN"):
            testing.assert_close_in_ulps([1.0, float("nan")], [1.0, 2.0], "bf16")
        testing.assert_close_in_ulps([float("nan")], [float("nan")], "bf16")
        testing.assert_fits(x, "fp16")
        with self.assertRaisesRegex(AssertionError, "element 1 .*fp16"):
            testing.assert_fits([1.0, 1e5], "fp16")

    def test_hook(self):
        try:
            import torch
        except ImportError:
            self.skipTest("no torch")
        model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
        with torch.no_grad():
            for layer in model:
                layer.weight.fill_(1)
                layer.bias.fill_(0)
            model[1].weight.fill_(1e5)
        with dtinfo.torch_hook(model, "fp16") as watch:
            model(torch.zeros(2, 4))
            self.assertIsNone(watch.first)
            model(torch.ones(2, 4))
        self.assertEqual((watch.first.module, watch.first.place), ("1", "output"))
        self.assertIn("beyond the range", repr(watch.first))
        with dtinfo.torch_hook(model, "fp16") as watch:
            model(torch.ones(2, 4) * 1e-6).sum().backward()
        self.assertEqual((watch.first.module, watch.first.place), ("0", "gradient"))
        count = len(model[0]._forward_hooks)
        self.assertEqual(count, 0)


if __name__ == "__main__":
    unittest.main()
