# SPDX-License-Identifier: MIT
"""Casts from Python against ml_dtypes and torch: every 16-bit input, and the policies."""
import unittest

import dtinfo
import ml_dtypes
import numpy as np

FLOATS = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e4m3",
          "float8_e3m4", "float8_e4m3b11fnuz", "float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn",
          "float32", "float64")
SIXTEEN = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name, name))


def codes(array):
    return array.view("u%d" % array.dtype.itemsize)


class EverySixteenBits(unittest.TestCase):
    """ml_dtypes rounds once from 16-bit floats, which fp32 holds, so that all finite results are equal. Where it differs
    is said here: infinities and NaN into formats without them."""

    def compare(self, source, name):
        given = SIXTEEN.view(dtype_of(source))
        with np.errstate(all="ignore"):
            theirs = given.astype(dtype_of(name))
            wide = given.astype(np.float32)
        ours = dtinfo.cast(given, dtype_of(name))
        differ = codes(ours) != codes(theirs)
        with np.errstate(all="ignore"):
            return wide, ours.astype(np.float32), theirs.astype(np.float32), differ & ~(np.isnan(ours.astype(np.float32)) & np.isnan(theirs.astype(np.float32)))  # but for sign and payload of NaN

    def test_all(self):
        checked = 0
        for source in ("float16", "bfloat16"):
            for name in FLOATS:
                wide, ours, theirs, differ = self.compare(source, name)
                with self.subTest(source=source, name=name):
                    if name in ("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"):
                        # No code for NaN: ml_dtypes stores -0, dtinfo the largest number, and reports it.
                        differ &= ~np.isnan(wide)
                    if name == "float8_e8m0fnu":
                        # No zero and no numbers below 2^-127: ml_dtypes makes NaN of zero, dtinfo the smallest number;
                        # and ml_dtypes rounds fp32's subnormals up, dtinfo to nearest.
                        differ &= np.abs(wide) >= np.float32(2.0**-126)
                    self.assertEqual(np.count_nonzero(differ), 0, list(zip(wide[differ], ours[differ], theirs[differ]))[:5])
                checked += differ.size
        self.assertEqual(checked, 2 * len(FLOATS) << 16)

    def test_integers(self):
        """From integers, ml_dtypes rounds to fp32 first: equal wherever that is exact."""
        given = SIXTEEN.view(np.int16)
        for name in FLOATS:
            if name == "float8_e8m0fnu":
                continue  # has no negative numbers: NaN here, by way of fp32 there
            with np.errstate(all="ignore"):
                theirs = given.astype(dtype_of(name))
            ours = dtinfo.cast(given, dtype_of(name))
            self.assertEqual(np.count_nonzero(codes(ours) != codes(theirs)), 0, name)

    def test_twice(self):
        """From fp64, ml_dtypes rounds to fp32 first; dtinfo once."""
        just_above = np.array([1 + 2.0**-8 + 2.0**-40])
        self.assertEqual(float(just_above.astype(ml_dtypes.bfloat16)[0]), 1.0)  # to 1 + 2^-8, then to even
        self.assertEqual(float(dtinfo.cast(just_above, "bf16")[0]), 1 + 2.0**-7)
        via = dtinfo.cast(just_above, "bf16", via="fp32")
        self.assertEqual(float(via[0]), 1.0)

    def test_policies(self):
        x = np.array([1.004, -1.004, 1e9, -1e9, np.inf, np.nan], np.float32)
        expected = {
            ("zero", "native"): [1.0, -1.0, 65504, -65504, np.inf], ("up", "native"): [1.0048828125, -1.00390625, np.inf,
                                                                                      -65504, np.inf],
            ("nearest-even", "saturate"): [1.00390625, -1.00390625, 65504, -65504, 65504],
            ("nearest-even", "saturate-finite"): [1.00390625, -1.00390625, 65504, -65504, np.inf],
        }
        expected[("zero", "native")][:2] = [1.00390625, -1.00390625]
        for (mode, overflow), numbers in expected.items():
            result = dtinfo.cast(x, "fp16", round=mode, overflow=overflow)
            self.assertEqual(result[:5].tolist(), numbers, (mode, overflow))
        with self.assertRaisesRegex(ValueError, "nearest-even"):
            dtinfo.cast(x, "fp16", round="sideways")
        with self.assertRaises(dtinfo.ArgumentError):
            dtinfo.cast(x, "fp16", like="nobody")

    def test_stochastic(self):
        x = np.full(1 << 14, 1 + 2.0**-9, np.float32)  # a quarter of the way to the next bf16
        first = dtinfo.cast(x, "bf16", round="stochastic", seed=1)
        self.assertEqual(codes(first).tobytes(), codes(dtinfo.cast(x, "bf16", round="stochastic", seed=1)).tobytes())
        self.assertNotEqual(codes(first).tobytes(), codes(dtinfo.cast(x, "bf16", round="stochastic", seed=2)).tobytes())
        self.assertAlmostEqual((first.astype(np.float32) > 1).mean(), 0.25, delta=0.02)

    def test_like_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("no torch")
        x = torch.from_numpy(SIXTEEN.view(np.float16).astype(np.float32))
        x = x[~x.isnan()]  # what torch makes of NaN depends on its code path, and dtinfo says so
        for dtype in (torch.float8_e4m3fn, torch.float8_e5m2, torch.bfloat16):
            ours, theirs = dtinfo.cast(x, dtype, like="torch"), x.to(dtype)
            same = (ours.view(torch.uint8) == theirs.view(torch.uint8)) if dtype.itemsize == 1 else (
                ours.view(torch.int16) == theirs.view(torch.int16))
            self.assertTrue((same | theirs.float().isnan() & ours.float().isnan()).all())

    def test_report(self):
        x = np.array([1.0, 1 / 3, 1e9, np.nan, 1e-30, -0.0], np.float32)
        result, report = dtinfo.cast(x, "fp16", report=True)
        exact = x.astype(np.float64)
        stored = result.astype(np.float64)
        error = np.abs(stored - exact)[[0, 1, 4, 5]]
        self.assertEqual((report.elements, report.overflowed, report.nan_in, report.to_zero), (6, 1, 1, 1))
        self.assertEqual(report.inexact, 3)
        self.assertEqual((report.max_absolute, report.max_index), (error.max(), 1))
        self.assertFalse(report.exact)
        self.assertTrue(dtinfo.cast(x[:1], "fp16", report=True)[1].exact)
        self.assertIn("overflowed", repr(report))
        self.assertIn("<table>", report._repr_html_())
        self.assertEqual(dtinfo.cast(x[3:4], "fp4_e2m1", report=True)[1].first_no_code, 0)


if __name__ == "__main__":
    unittest.main()
