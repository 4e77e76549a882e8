# SPDX-License-Identifier: MIT
"""Single numbers, limits, errors: against fractions, numpy, and ml_dtypes."""
import math
import pickle
import unittest
from decimal import Decimal
from fractions import Fraction

import dtinfo

try:
    import ml_dtypes
    import numpy as np
except ImportError:
    np = None


def bf16_neighbours(x):
    """The bf16 numbers around a positive Fraction in the normal range, from the definition."""
    exponent = math.floor(math.log2(x))
    spacing = Fraction(2) ** (exponent - 7)
    below = x // spacing * spacing
    return below, below if below == x else below + spacing, spacing


class Values(unittest.TestCase):
    def test_against_the_definition(self):
        for given in ("1/3", "0.1", 70000, Fraction(22, 7), 0.3, Decimal("1.005"), "0x1.fffp3", 2**70 + 1, "1e30"):
            value = dtinfo.cast_value(given, "bf16")
            exact = Fraction(float.fromhex(given)) if given == "0x1.fffp3" else Fraction(given)
            below, above, spacing = bf16_neighbours(exact)
            nearest = min((below, above), key=lambda side: (abs(side - exact), side / spacing % 2))
            self.assertEqual((value.given, value.stored, value.error), (exact, nearest, nearest - exact), given)
            self.assertEqual((value.below, value.above), (below, above), given)
            self.assertEqual(value.relative, abs(nearest - exact) / exact)
            self.assertEqual(value.ulps, abs(nearest - exact) / bf16_neighbours(nearest)[2])
            self.assertEqual(value.direction, (nearest > exact) - (nearest < exact))
            self.assertEqual("inexact" in value.flags, nearest != exact)

    def test_what_fraction_lacks(self):
        self.assertEqual(dtinfo.cast_value("inf", "bf16").stored, math.inf)
        self.assertTrue(math.isnan(dtinfo.cast_value(math.nan, "bf16").stored))
        self.assertEqual(math.copysign(1, dtinfo.cast_value("-0", "bf16").stored), -1)
        value = dtinfo.cast_value("1e999999999", "fp16")
        self.assertEqual((value.given, value.stored, value.flags), (None, math.inf, {"inexact", "overflow"}))
        self.assertEqual(dtinfo.cast_value("nan", "fp4_e2m1").flags, {"inexact", "invalid", "no_nan"})
        self.assertIsInstance(dtinfo.cast_value(1, "bf16").stored, Fraction)

    def test_policies(self):
        self.assertEqual(dtinfo.cast_value(1e9, "fp16", overflow="saturate").stored, 65504)
        self.assertEqual(dtinfo.cast_value("1/3", "bf16", round="zero").stored, Fraction(85, 256))
        self.assertEqual(dtinfo.cast_value(Fraction(1) + Fraction(1, 256) + Fraction(1, 1 << 40), "bf16", via="fp32").stored, 1)
        self.assertEqual(float(dtinfo.cast_value(2.5, "int8")), 2.0)

    def test_refused(self):
        with self.assertRaises(dtinfo.ArgumentError) as caught:
            dtinfo.cast_value("one", "bf16")
        self.assertEqual((caught.exception.status, caught.exception.argument), ("bad_value", "one"))
        self.assertIsInstance(caught.exception, ValueError)
        with self.assertRaises(dtinfo.UnknownDtypeError) as caught:
            dtinfo.dtype("bf17")
        self.assertEqual(caught.exception.suggestions, ("bf16",))
        self.assertIsInstance(caught.exception, KeyError)
        self.assertIn("bf17", str(caught.exception))
        for call in (lambda: dtinfo.cast(), lambda: dtinfo.cast([1]), lambda: dtinfo.cast([1], "bf16", "zero"),
                     lambda: dtinfo.cast([1], "bf16", nonsense=1), lambda: dtinfo.cast([1], dtype="bf16", array=[2], x=1),
                     lambda: dtinfo.cast([1], "bf16", dtype="fp16"), lambda: dtinfo.cast_value(object(), "bf16")):
            self.assertRaises(TypeError, call)
        with self.assertRaises(ValueError):
            dtinfo.cast([1], "bf16", seed=-1)
        with self.assertRaises(ValueError):
            dtinfo.cast([1], "bf16", via=["fp32"] * 9)

    def test_bits(self):
        one = dtinfo.bits(0x3f80, "bf16")
        self.assertEqual((one.value, one.bits, one.text), (1, "0 01111111 0000000", "1"))
        self.assertEqual(dtinfo.bits(0b1111, "int4").value, -1)
        with self.assertRaises(dtinfo.ArgumentError):
            dtinfo.bits(0x10000, "bf16")
        least = dtinfo.bits(1, "fp64").exact_text
        self.assertEqual((len(least), Fraction(least)), (1076, Fraction(1, 2**1074)))

    def test_pictures(self):
        value = dtinfo.cast_value("1/3", "bf16")
        self.assertIn("s eeeeeeee mmmmmmm", repr(value))
        self.assertIn("\u25c6", repr(value))
        self.assertIn("<table>", value._repr_html_())
        self.assertNotIn("->", value._repr_html_())
        for thing in (dtinfo.finfo("bf16"), dtinfo.iinfo("int8"), dtinfo.bits(0, "hif8"), dtinfo.blocks()[0]):
            self.assertIn("<table>", thing._repr_html_())
            self.assertGreater(len(repr(thing)), 10)

    def test_limits(self):
        self.assertEqual(dtinfo.finfo("bf16").max, (2 - Fraction(1, 128)) * 2**127)
        self.assertEqual((dtinfo.iinfo("int4").min, dtinfo.iinfo("int4").max), (-8, 7))
        self.assertEqual(dtinfo.iinfo("uint64").max, 2**64 - 1)
        self.assertIsNone(dtinfo.finfo("fp4_e2m1").nan_code)
        self.assertRaises(dtinfo.ArgumentError, dtinfo.finfo, "int8")
        self.assertRaises(dtinfo.ArgumentError, dtinfo.iinfo, "bf16")
        self.assertTrue(dtinfo.holds("fp32", "bf16"))
        self.assertFalse(dtinfo.holds("fp16", "bf16"))

    @unittest.skipIf(np is None, "no numpy")
    def test_limits_of_others(self):
        for name in ("float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz",
                     "float8_e3m4", "float6_e2m3fn", "float4_e2m1fn"):
            theirs = ml_dtypes.finfo(name if name.startswith("float") and name[5:] in ("16", "32", "64")
                                     else getattr(ml_dtypes, name))
            ours = dtinfo.finfo("ml_dtypes." + name if "_" in name else name)
            for word in ("max", "min", "smallest_normal", "smallest_subnormal", "eps"):
                if float(getattr(theirs, word)) or getattr(ours, word):
                    self.assertEqual(float(getattr(ours, word)), float(getattr(theirs, word)), (name, word))

    def test_dtypes(self):
        every = dtinfo.dtypes()
        self.assertGreater(len(every), 60)
        for dtype in every:
            self.assertIs(dtinfo.dtype(dtype.name), dtype)
            self.assertIs(pickle.loads(pickle.dumps(dtype)), dtype)
        self.assertIn("bfloat16", dtinfo.dtype("bf16").names("torch"))
        self.assertIn("torch", dtinfo.stacks())
        made = dtinfo.dtype("e5m3")
        self.assertEqual((made.bits, made.itemsize, made.kind), (9, 2, "float"))
        self.assertEqual(made.numpy, None)


if __name__ == "__main__":
    unittest.main()
