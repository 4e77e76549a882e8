# SPDX-License-Identifier: MIT
"""Tests of one's own code in units of the last place, for pytest or unittest; needs dtinfo, and libmpfr for exp.

    pytest test_mine.py        or        python test_mine.py
"""
import math
import unittest

import dtinfo
from dtinfo.testing import assert_close_in_ulps, assert_fits


def softmax(x):
    """The code under test."""
    highest = max(x)
    powers = [math.exp(number - highest) for number in x]
    total = sum(powers)
    return [power / total for power in powers]


def quick_softmax(x):
    """A faster one, which lacks the subtraction."""
    powers = [math.exp(number) for number in x]
    total = sum(powers)
    return [power / total for power in powers]


LOGITS = [-20.0, 0.0, 5.0, 11.5]


class Softmax(unittest.TestCase):
    def test_is_right_to_an_ulp_of_bf16(self):
        # The reference is computed in fp32; 1 ulp is the distance between neighbouring numbers of bf16.
        assert_close_in_ulps(softmax(LOGITS), dtinfo.calc("softmax(x)", "fp32", x=LOGITS), "bf16", ulps=1)

    def test_a_difference_is_named(self):
        wrong = softmax(LOGITS)
        wrong[2] *= 1.02
        with self.assertRaises(AssertionError) as caught:
            assert_close_in_ulps(wrong, softmax(LOGITS), "bf16", ulps=1)
        self.assertIn("at element 2", str(caught.exception))

    def test_a_kernel_in_bf16_is_close(self):
        # calc() rounds every operation, as a kernel in bf16 without wider registers would.
        assert_close_in_ulps(dtinfo.calc("softmax(x)", "bf16", x=LOGITS), softmax(LOGITS), "bf16", ulps=2)


class Fp16(unittest.TestCase):
    def test_probabilities_fit(self):
        assert_fits(softmax(LOGITS), "fp16")

    def test_the_powers_of_the_quick_softmax_do_not_fit(self):
        # In Python's 64 bits both agree, and the trouble is not seen ...
        assert_close_in_ulps(quick_softmax(LOGITS), softmax(LOGITS), "fp16", ulps=1)
        # ... but exp(11.5) is beyond fp16, where the quick one has infinity / infinity.
        with self.assertRaises(AssertionError) as caught:
            assert_fits([math.exp(x) for x in LOGITS], "fp16")
        self.assertIn("element 3 is 98715.8, beyond the range of fp16", str(caught.exception))
        e = dtinfo.calc("e = exp(x); e / sum(e)", "fp16", x=LOGITS)
        self.assertTrue(math.isnan(e.tolist()[3]))


if __name__ == "__main__":
    unittest.main()
