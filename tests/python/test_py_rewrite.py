# SPDX-License-Identifier: MIT
"""New files from files, and questions about files, from Python."""
import json
import os
import tempfile
import unittest

import dtinfo
import ml_dtypes
import numpy as np


class Rewrites(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.x = np.random.default_rng(5).standard_normal((8, 64)).astype(np.float32)
        self.path = os.path.join(folder.name, "a.safetensors")
        self.output = os.path.join(folder.name, "b.safetensors")
        self.third = os.path.join(folder.name, "c.safetensors")
        dtinfo.save(self.path, {"layer.weight": self.x, "layer.bias": self.x[0], "ids": np.arange(4)})

    def test_cast(self):
        report = dtinfo.cast_file(self.path, "bf16", self.output, keep="*.bias")
        self.assertIsInstance(report, dtinfo.Document)
        self.assertTrue(report["schema"].startswith("dtinfo.cast"))
        json.dumps(report)
        with dtinfo.open(self.output) as file:
            self.assertEqual([file[name].dtype.name for name in file], ["bf16", "fp32", "int64"])
            self.assertEqual(file["layer.weight"].read().numpy().tobytes(), self.x.astype(ml_dtypes.bfloat16).tobytes())
        with self.assertRaises(dtinfo.WriteError):
            dtinfo.cast_file(self.path, "bf16", self.output)
        dtinfo.cast_file(self.path, dtinfo.dtype("fp16"), self.output, force=True, cast_only=["layer.weight"])
        with dtinfo.open(self.output) as file:
            self.assertEqual(file["layer.bias"].dtype.name, "fp32")

    def test_quantize(self):
        dtinfo.quantize_file(self.path, "int8", self.output, per="channel", keep="*.bias")
        whole = dtinfo.quantize(self.x, "int8", per="channel").dequantize()
        with dtinfo.open(self.output) as file:
            tensor = file["layer.weight"]
            self.assertEqual((tensor.quantized, tensor.dtype.name), ("int8", "fp32"))
            self.assertEqual(np.asarray(tensor.read()).tobytes(), whole.tobytes())
        with dtinfo.open(self.output, stored=True) as file:
            self.assertGreater(len(file), 3)
        dtinfo.dequantize_file(self.output, "fp32", self.third)
        with dtinfo.open(self.third) as file:
            self.assertEqual(np.asarray(file["layer.weight"].read()).tobytes(), whole.tobytes())

    def test_transcode(self):
        dtinfo.quantize_file(self.path, "fp8_e4m3fn", self.output, keep="*.bias", layout="compressed-tensors")
        with dtinfo.open(self.output) as file:
            numbers = file["layer.weight"].read().tolist()
        dtinfo.transcode(self.output, "comfy", self.third)
        with dtinfo.open(self.third) as file:
            self.assertEqual(file["layer.weight"].layout, "comfy")
            self.assertEqual(file["layer.weight"].read().tolist(), numbers)

    def test_questions(self):
        dtinfo.cast_file(self.path, "bf16", self.output)
        found = dtinfo.inspect(self.path)
        self.assertTrue(found.ok)
        self.assertEqual([tensor["name"] for tensor in found["files"][0]["tensors"]], ["layer.weight", "layer.bias", "ids"])
        self.assertTrue(dtinfo.compare(self.path, self.path).ok)
        self.assertFalse(dtinfo.compare(self.path, self.output).ok)
        self.assertTrue(dtinfo.check(self.path, no_nan=True).ok)
        self.assertFalse(dtinfo.check(self.path, fits="int2").ok)
        self.assertTrue(dtinfo.explain(self.path, self.output).ok)
        self.assertIn("dtinfo.inspect", repr(found))
        self.assertIn("<pre>", found._repr_html_())

    def test_errors(self):
        with self.assertRaises(dtinfo.Error) as caught:
            dtinfo.cast_file(self.path, "bf16", self.output, nonsense="x")
        self.assertIn("nonsense", str(caught.exception))
        with self.assertRaises(dtinfo.Error):
            dtinfo.cast_file(self.path, "bf17", self.output)
        with self.assertRaises(OSError):
            dtinfo.inspect(self.path + ".none")
        self.assertFalse(os.path.exists(self.output))


if __name__ == "__main__":
    unittest.main()
