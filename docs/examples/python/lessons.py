# SPDX-License-Identifier: MIT
"""The lessons of a course on number formats, in cells: what dtinfo answers beside what torch and numpy print.

Open it as a notebook, or run it:

    python lessons.py

It needs dtinfo alone, with libmpfr for functions such as exp. Each lesson has the course's own Python, what that printed
when this was written, and the same asked of dtinfo. With torch, numpy and ml_dtypes, the course's Python runs again.
"""
# %%
import functools
import math
import operator
import os
import warnings
from fractions import Fraction

import dtinfo

SAMPLE = os.path.join(os.path.dirname(os.path.abspath(globals().get("__file__", "lessons.py"))), "../../sample")
NAMES = {"functools": functools, "math": math, "operator": operator, "Fraction": Fraction, "SAMPLE": SAMPLE}
try:
    import numpy as np
    import torch
    import ml_dtypes
    NAMES.update(np=np, torch=torch, ml_dtypes=ml_dtypes, bfloat16=ml_dtypes.bfloat16, int4=ml_dtypes.int4,
                 float8_e4m3fn=ml_dtypes.float8_e4m3fn, float8_e5m2=ml_dtypes.float8_e5m2,
                 float4_e2m1fn=ml_dtypes.float4_e2m1fn)
except ImportError:
    pass
warnings.simplefilter("ignore")  # many lessons are about overflow


def numbers(value):
    """The numbers of a list, an array or a tensor, as Python's."""
    if isinstance(value, (bool, int, float, Fraction)):
        return [value]
    if hasattr(value, "detach"):
        value = value.detach().double() if value.is_floating_point() else value
    elif hasattr(value, "astype") and value.dtype.kind not in "biuf":  # ml_dtypes'
        value = value.astype("float64")
    if hasattr(value, "tolist"):
        return numbers(value.tolist())
    return [number for item in value for number in numbers(item)]


def lesson(course, printed, answer):
    """Shows what dtinfo answers beside what the course's Python gives, or gave when it cannot be run here."""
    print("\n" + "\n".join(">>> " + line for line in course.split("; ")))
    print("dtinfo  " + "  ".join(map(str, numbers(answer))))
    numpy = any(word in course for word in ("np.", "ml_dtypes.", "float4", "float8", "float16"))
    library = "torch " if "torch." in course else "numpy " if numpy else "Python"
    *before, last = course.split("; ")
    try:
        exec("; ".join(before), NAMES)
        printed = "  ".join(map(str, numbers(eval(last, NAMES))))
    except (AttributeError, NameError):  # no such package, or one that is too old
        printed += "  (recorded)"
    print("%s  %s" % (library, printed))

# %% [markdown]
# ## 1. Limits of dtypes

# %%
lesson("torch.finfo(torch.float16).max", "65504.0", float(dtinfo.finfo("fp16").max))

# %%
# "bfloat16 has the maximum of float32" is only nearly so: the exponents are the same, the last 16 bits are missing.
lesson("torch.finfo(torch.bfloat16).max", "3.3895313892515355e+38", float(dtinfo.finfo("bf16").max))

# %%
lesson("torch.finfo(torch.float32).max", "3.4028234663852886e+38", float(dtinfo.finfo("fp32").max))

# %%
lesson("np.finfo(np.float64).max", "1.7976931348623157e+308", float(dtinfo.finfo("fp64").max))

# %%
lesson("[torch.finfo(t).eps for t in (torch.float16, torch.bfloat16, torch.float32, torch.float64)]",
       "0.0009765625  0.0078125  1.1920928955078125e-07  2.220446049250313e-16",
       [float(dtinfo.finfo(d).eps) for d in ("fp16", "bf16", "fp32", "fp64")])

# %%
# tiny is the smallest normal number. "Nothing smaller is stored" is wrong: subnormal numbers reach further down.
lesson("[torch.finfo(torch.float16).tiny, np.finfo(np.float16).smallest_subnormal]",
       "6.103515625e-05  5.960464477539063e-08",
       [float(dtinfo.finfo("fp16").tiny), float(dtinfo.finfo("fp16").smallest_subnormal)])

# %%
lesson("[torch.finfo(torch.bfloat16).tiny, ml_dtypes.finfo(bfloat16).smallest_subnormal]",
       "1.1754943508222875e-38  9.183549615799121e-41",
       [float(dtinfo.finfo("bf16").tiny), float(dtinfo.finfo("bf16").smallest_subnormal)])

# %%
lesson("[torch.finfo(torch.float8_e4m3fn).max, torch.finfo(torch.float8_e5m2).max]", "448.0  57344.0",
       [float(dtinfo.finfo(d).max) for d in ("fp8_e4m3fn", "fp8_e5m2")])

# %%
# "float8_e4m3 is an IEEE format": the fn in its name means finite, it has no infinity.
lesson("[bool(np.isinf(np.arange(256, dtype=np.uint8).view(t).astype(float)).any())"
       " for t in (float8_e4m3fn, float8_e5m2)]", "False  True",
       [dtinfo.finfo(d).has_inf for d in ("fp8_e4m3fn", "fp8_e5m2")])

# %%
lesson("ml_dtypes.finfo(float4_e2m1fn).max", "6.0", float(dtinfo.finfo("fp4_e2m1").max))

# %%
# Integers are exact up to 2 to the number of significant bits: 11, 8 and 24.
lesson("[2 ** (ml_dtypes.finfo(t).nmant + 1) for t in (np.float16, bfloat16, np.float32)]", "2048  256  16777216",
       [dtinfo.finfo(d).integers_up_to for d in ("fp16", "bf16", "fp32")])

# %%
# "float16 has 3 decimal digits, so 0.1 is exact enough": 3 digits survive a round trip, but the error of every
# operation adds up; 0.1 itself is off by 0.02 %.
lesson("[np.finfo(np.float16).precision, float(np.float16(0.1))]", "3  0.0999755859375",
       [dtinfo.finfo("fp16").digits10, dtinfo.cast(0.1, "fp16")])

# %%
lesson("[np.iinfo(np.int8).min, np.iinfo(np.int8).max]", "-128  127",
       [dtinfo.iinfo("int8").min, dtinfo.iinfo("int8").max])

# %%
lesson("[np.iinfo(t).max for t in (np.uint8, np.int16, np.int32, np.int64)]",
       "255  32767  2147483647  9223372036854775807",
       [dtinfo.iinfo(d).max for d in ("uint8", "int16", "int32", "int64")])

# %%
lesson("[int(ml_dtypes.iinfo(int4).min), int(ml_dtypes.iinfo(int4).max)]", "-8  7",
       [dtinfo.iinfo("int4").min, dtinfo.iinfo("int4").max])

# %% [markdown]
# ## 2. Numbers become others

# %%
# "70000 fits into bfloat16": its range does, its 8 bits do not; the neighbours are 69632 and 70144.
lesson("torch.tensor(70000.0).to(torch.bfloat16)", "70144.0", dtinfo.cast(70000, "bf16"))

# %%
lesson("np.float16(70000)", "inf", dtinfo.calc("70000", "fp16"))

# %%
# "float16 overflows from 65505 on": what rounds to 65504 is still there; half a step further is the limit.
lesson("[np.float16(65519.0), np.float16(65520.0)]", "65504.0  inf", dtinfo.cast([65519, 65520], "fp16"))

# %%
lesson("[np.float64(1) / 3, np.float32(1 / 3), np.float16(1 / 3), bfloat16(1 / 3)]",
       "0.3333333333333333  0.3333333432674408  0.333251953125  0.333984375",
       [dtinfo.calc("1/3", d) for d in ("fp64", "fp32", "fp16", "bf16")])

# %%
lesson("[np.float64(0.1), np.float32(0.1), np.float16(0.1), bfloat16(0.1)]",
       "0.1  0.10000000149011612  0.0999755859375  0.10009765625",
       [dtinfo.calc("0.1", d) for d in ("fp64", "fp32", "fp16", "bf16")])

# %%
# No binary format has 0.1, float64 neither: this is what it has instead.
lesson("Fraction(0.1)", "3602879701896397/36028797018963968", dtinfo.cast_value("0.1", "fp64").stored)

# %%
lesson("[float8_e4m3fn(0.1), float8_e5m2(0.1), float4_e2m1fn(0.1)]", "0.1015625  0.09375  0.0",
       [dtinfo.cast(0.1, d) for d in ("fp8_e4m3fn", "fp8_e5m2", "fp4_e2m1")])

# %%
lesson("[bfloat16(math.pi), float8_e4m3fn(math.pi), float8_e5m2(math.pi)]", "3.140625  3.25  3.0",
       [dtinfo.cast(3.141592653589793, d) for d in ("bf16", "fp8_e4m3fn", "fp8_e5m2")])

# %%
# "Casting to int8 rounds": it truncates, as in C.
lesson("[np.int8(2.9), np.int8(-2.9)]", "2  -2", dtinfo.cast([2.9, -2.9], "int8"))

# %%
lesson("np.float32([448, 464, 465]).astype(float8_e4m3fn)", "448.0  448.0  nan",
       dtinfo.cast([448, 464, 465], "fp8_e4m3fn"))

# %%
# "float8 saturates" is a choice of kernels, frameworks and their versions, not of the format: clamp before casting.
lesson("torch.tensor([1000.0]).clamp(-448, 448).to(torch.float8_e4m3fn).float()", "448.0",
       dtinfo.cast(1000, "fp8_e4m3fn", overflow="saturate"))

# %%
lesson("torch.tensor([57344.0, 61439.0, 61440.0]).to(torch.float8_e5m2).float()", "57344.0  57344.0  inf",
       dtinfo.cast([57344, 61439, 61440], "fp8_e5m2"))

# %%
lesson("np.array([300, -129]).astype(np.int8)", "44  127", dtinfo.cast([300, -129], "int8", overflow="wrap"))

# %%
lesson("np.array([-1]).astype(np.uint8)", "255", dtinfo.cast(-1, "uint8", overflow="wrap"))

# %%
lesson("np.float32(16777217)", "16777216.0", dtinfo.cast(16777217, "fp32"))

# %%
# int64 has integers that float64 lacks: ids of tokens, of users.
lesson("float(9007199254740993)", "9007199254740992.0", dtinfo.cast(9007199254740993, "fp64"))

# %%
lesson("[np.float16(2049), bfloat16(257)]", "2048.0  256.0",
       [dtinfo.calc("2049", "fp16"), dtinfo.calc("257", "bf16")])

# %%
# "bfloat16 is always less precise than float16": not for small numbers, of which float16 has none.
lesson("[np.float16(1e-8), bfloat16(1e-8)]", "0.0  1.0011717677116394e-08",
       [dtinfo.cast(1e-8, d) for d in ("fp16", "bf16")])

# %%
lesson("[np.float16(2.0 ** -24), np.float16(2.0 ** -25)]", "5.960464477539063e-08  0.0",
       [dtinfo.calc("2^-24", "fp16"), dtinfo.calc("0x1p-25", "fp16")])

# %%
lesson("[np.float32(1e-45), np.float32(1e-46)]", "1.401298464324817e-45  0.0", dtinfo.cast([1e-45, 1e-46], "fp32"))

# %% [markdown]
# ## 3. Every operation rounds

# %%
lesson("0.1 + 0.2", "0.30000000000000004", dtinfo.calc("0.1+0.2", "fp64"))

# %%
lesson("int(Fraction(0.1 + 0.2) != Fraction(3, 10))", "1",
       dtinfo.calc("0.1+0.2", "fp64", truth=True, report=True)[1].different)

# %%
lesson("[np.float32(0.1) + np.float32(0.2), np.float16(0.1) + np.float16(0.2), bfloat16(0.1) + bfloat16(0.2)]",
       "0.30000001192092896  0.2998046875  0.30078125", [dtinfo.calc("0.1+0.2", d) for d in ("fp32", "fp16", "bf16")])

# %%
lesson("bfloat16(256) + bfloat16(1)", "256.0", dtinfo.calc("256+1", "bf16"))

# %%
lesson("np.float16(2048) + np.float16(1)", "2048.0", dtinfo.calc("2048+1", "fp16"))

# %%
lesson("np.float32(2 ** 24) + np.float32(1)", "16777216.0", dtinfo.calc("2^24+1", "fp32"))

# %%
lesson("2.0 ** 53 + 1", "9007199254740992.0", dtinfo.calc("2^53+1", "fp64"))

# %%
lesson("np.float16(10000) * np.float16(10000)", "inf", dtinfo.calc("10k*10k", "fp16"))

# %%
lesson("torch.tensor(60000.0).half() + torch.tensor(6000.0).half()", "inf", dtinfo.calc("60000 + 6000", "fp16"))

# %%
lesson("np.float32(np.inf) - np.float32(np.inf)", "nan", dtinfo.calc("inf - inf", "fp32"))

# %%
lesson("np.float16(0) / np.float16(0)", "nan", dtinfo.calc("0/0", "fp16"))

# %%
lesson("np.sqrt(np.float32(-1))", "nan", dtinfo.calc("sqrt(-1)", "fp32"))

# %%
# "max skips NaN": that of Python does here, those of numpy and torch do not.
lesson("np.maximum(np.float32(1), np.float32(np.nan))", "nan", dtinfo.calc("max(1, nan)", "fp32"))

# %%
# "A sum does not depend on its order": it does, and so on threads, kernels and the size of a batch.
lesson("[(0.1 + 0.2) + 0.3, 0.1 + (0.2 + 0.3)]", "0.6000000000000001  0.6",
       [dtinfo.calc("(0.1 + 0.2) + 0.3", "fp64"), dtinfo.calc("0.1 + (0.2 + 0.3)", "fp64")])

# %%
lesson("(np.float32(1e8) + np.float32(1)) - np.float32(1e8)", "0.0", dtinfo.calc("(1e8 + 1) - 1e8", "fp32"))

# %%
lesson("np.float16(1) / np.float16(3) * np.float16(3)", "1.0", dtinfo.calc("1/3*3", "fp16"))

# %% [markdown]
# ## 4. Training in half precision

# %%
# Adam's epsilon is 0 in float16, so a first step with v = 0 divides by zero.
lesson("np.float16(1e-4) / (np.sqrt(np.float16(0)) + np.float16(1e-8))", "inf",
       dtinfo.calc("1e-4 / (sqrt(0) + 1e-8)", "fp16"))

# %%
lesson("[np.float16(1e-8), np.float16(1e-8) + np.float16(1e-3)]", "0.0  0.0010004043579101562",
       [dtinfo.calc("1e-8", "fp16"), dtinfo.calc("1e-8 + 1e-3", "fp16")])

# %%
# In bfloat16 the epsilon is there, but 1 + 1e-8 is 1 as in float32.
lesson("[bfloat16(1) + bfloat16(1e-8), np.float32(1) + np.float32(1e-8)]", "1.0  1.0",
       [dtinfo.calc("1 + 1e-8", d) for d in ("bf16", "fp32")])

# %%
# A gradient below 2^-25 is 0 in float16; scaled by 65536 before it is stored, it is not.
lesson("[np.float16(1e-8), np.float16(1e-8 * 65536)]", "0.0  0.0006551742553710938",
       [dtinfo.cast(1e-8, "fp16"), dtinfo.cast(0.00065536, "fp16")])

# %%
# "Multiply by the loss scale in float16": 65536 is infinity there, and the gradient already 0.
lesson("np.float16(1e-8) * np.float16(65536)", "nan", dtinfo.calc("1e-8 * 65536", "fp16"))

# %%
# The scale has to be in the loss, before the chain of products that underflows.
lesson("[np.float16(1e-4) * np.float16(1e-4), np.float16(1024) * np.float16(1e-4) * np.float16(1e-4)]",
       "0.0  1.0251998901367188e-05", [dtinfo.calc("1e-4 * 1e-4", "fp16"), dtinfo.calc("1024 * 1e-4 * 1e-4", "fp16")])

# %%
# Unscaled in float32 afterwards, the gradient is back, off by 0.03 %.
lesson("np.float32(np.float16(1e-8 * 65536)) / np.float32(65536)", "9.997165761888027e-09",
       dtinfo.calc("g / 65536", "fp32", g=dtinfo.cast(0.00065536, "fp16")))

# %%
lesson("bfloat16(1) + bfloat16(1e-4)", "1.0", dtinfo.calc("1 + 1e-4", "bf16"))

# %%
# An update needs more than half a step: 2^-9 of the weight in bfloat16, 2^-12 in float16.
lesson("[bfloat16(0.5) - bfloat16(1e-3), np.float16(0.5) - np.float16(1e-4), np.float32(0.5) - np.float32(1e-4)]",
       "0.498046875  0.5  0.4999000132083893",
       [dtinfo.calc("0.5 - 1e-3", "bf16"), [dtinfo.calc("0.5 - 1e-4", d) for d in ("fp16", "fp32")]])

# %%
# A thousand updates that are all lost: why weights have a master copy in float32.
lesson("[functools.reduce(operator.sub, [t(1e-4)] * 1000, t(1)) for t in (bfloat16, np.float32)]",
       "1.0  0.8999834060668945", [dtinfo.calc("1" + " - 1e-4" * 1000, d) for d in ("bf16", "fp32")])

# %%
# beta2 = 0.999 of Adam is 1 in bfloat16, and v never decays.
lesson("bfloat16(0.999)", "1.0", dtinfo.cast(0.999, "bf16"))

# %%
lesson("torch.relu(torch.tensor([-1.5, 0.0, 2.5]).bfloat16())", "0.0  0.0  2.5",
       dtinfo.calc("relu([-1.5, 0, 2.5])", "bf16"))

# %%
# The scale of a quantized tensor is its largest magnitude.
lesson("np.abs(np.float16([0.1, -3.3, 2.7])).max()", "3.30078125", dtinfo.calc("max(abs([0.1, -3.3, 2.7]))", "fp16"))

# %% [markdown]
# ## 5. exp, log, softmax

# %%
lesson("np.exp(np.float16(-20))", "0.0", dtinfo.calc("exp(-20)", "fp16"))

# %%
lesson("np.exp(bfloat16(-20))", "2.066371962428093e-09", dtinfo.calc("exp(-20)", "bf16"))

# %%
lesson("[np.exp(np.float16(11)), np.exp(np.float16(12))]", "59872.0  inf", dtinfo.calc("exp([11, 12])", "fp16"))

# %%
lesson("[np.exp(np.float32(88)), np.exp(np.float32(89)), np.exp(np.float32(-104))]",
       "1.6516362661361307e+38  inf  0.0", dtinfo.calc("exp([88, 89, -104])", "fp32"))

# %%
lesson("torch.softmax(torch.tensor([-20.0, 0.0, 5.0]), 0)",
       "1.3794993793114774e-11  0.006692850962281227  0.9933071732521057",
       dtinfo.calc("softmax([-20, 0, 5])", "fp32"))

# %%
# With float32 inside, as torch computes it: the smallest probability is 0 in float16 all the same.
lesson("torch.softmax(torch.tensor([-20.0, 0.0, 5.0]).half(), 0)", "0.0  0.00669097900390625  0.9931640625",
       dtinfo.calc("softmax([-20, 0, 5])", "fp16", accumulate="fp32"))

# %%
lesson("e = np.exp(np.float32([1000, 1000, 1000])); e / e.sum()", "nan  nan  nan",
       dtinfo.calc("e = exp([1000, 1000, 1000]); e / sum(e)", "fp32"))

# %%
lesson("x = np.float32([1000, 1000, 1000]); np.exp(x - x.max()) / np.exp(x - x.max()).sum()",
       "0.3333333432674408  0.3333333432674408  0.3333333432674408",
       dtinfo.calc("x = [1000, 1000, 1000]; e = exp(x - max(x)); e / sum(e)", "fp32"))

# %%
lesson("torch.softmax(torch.tensor([1000.0, 999.0]).bfloat16(), 0)", "0.5  0.5",
       dtinfo.calc("softmax([1000, 999])", "bf16", accumulate="fp32"))

# %%
# 999 is not in bfloat16: it becomes 1000, and both get one half.
lesson("bfloat16(999)", "1000.0", dtinfo.cast(999, "bf16"))

# %%
lesson("torch.logsumexp(torch.tensor([1000.0, 1000.0]), 0)", "1000.6931762695312",
       dtinfo.calc("logsumexp([1000, 1000])", "fp32"))

# %%
# log(softmax(x)) of an unlikely class is -inf: take log_softmax.
lesson("np.log(np.float16(0))", "-inf", dtinfo.calc("log(0)", "fp16"))

# %%
lesson("[torch.log_softmax(torch.tensor([-20.0, 0.0, 5.0]).half(), 0)[0]]", "-25.0",
       dtinfo.calc("x = -20; x - logsumexp([-20, 0, 5])", "fp16", accumulate="fp32"))

# %%
lesson("[np.log(np.float32(1) + np.float32(1e-8)), np.log1p(np.float32(1e-8))]", "0.0  9.99999993922529e-09",
       [dtinfo.calc("log(1 + 1e-8)", "fp32"), dtinfo.calc("log1p(1e-8)", "fp32")])

# %%
lesson("np.float16(1) - torch.sigmoid(torch.tensor(10.0).half()).item()", "0.0",
       dtinfo.calc("1 - sigmoid(10)", "fp16"))

# %% [markdown]
# ## 6. Sums, means, dot products

# %%
lesson("functools.reduce(operator.add, [bfloat16(1)] * 1000)", "256.0", dtinfo.calc("sum(repeat(1, 1000))", "bf16"))

# %%
lesson("torch.ones(1000, dtype=torch.bfloat16).sum()", "1000.0",
       dtinfo.calc("sum(repeat(1, 1000))", "bf16", accumulate="fp32"))

# %%
lesson("functools.reduce(operator.add, [np.float16(1)] * 5000)", "2048.0",
       dtinfo.calc("sum(repeat(1, 5000))", "fp16"))

# %%
lesson("functools.reduce(operator.add, [float8_e4m3fn(1)] * 100)", "16.0",
       dtinfo.calc("sum(repeat(1, 100))", "fp8_e4m3fn"))

# %%
# "A wider accumulator makes the sum exact": it is rounded to bfloat16 in the end; 1001 is not in it.
lesson("torch.ones(1001, dtype=torch.bfloat16).sum()", "1000.0",
       dtinfo.calc("sum(repeat(1, 1001))", "bf16", accumulate="fp32"))

# %%
lesson("functools.reduce(operator.add, [0.1] * 10)", "0.9999999999999999",
       dtinfo.calc("sum(repeat(0.1, 10))", "fp64"))

# %%
# numpy adds pairwise, which is nearer to the truth than one after the other; so do trees on GPUs.
lesson("functools.reduce(operator.add, [np.float32(0.1)] * 10000)", "999.9028930664062",
       dtinfo.calc("sum(repeat(0.1, 10000))", "fp32"))

# %%
lesson("half = lambda x: 2 ** ((len(x) - 1).bit_length() - 1); "
       "pairwise = lambda x: x[0] if len(x) == 1 else pairwise(x[:half(x)]) + pairwise(x[half(x):]); "
       "pairwise([np.float32(0.1)] * 10000)", "1000.0",
       dtinfo.calc("sum(repeat(0.1, 10000))", "fp32", order="pairwise"))

# %%
lesson("half = lambda x: 2 ** ((len(x) - 1).bit_length() - 1); "
       "pairwise = lambda x: x[0] if len(x) == 1 else pairwise(x[:half(x)]) + pairwise(x[half(x):]); "
       "pairwise([np.float16(i / 99) for i in range(100)])", "50.0",
       dtinfo.calc("sum(linspace(0, 1, 100))", "fp16", order="pairwise"))

# %%
lesson("functools.reduce(operator.add, [np.float16(i / 99) for i in range(100)])", "49.96875",
       dtinfo.calc("sum(linspace(0, 1, 100))", "fp16"))

# %%
# Kahan's sum keeps what is lost in a second number.
lesson("kahan = lambda s, x: (lambda y: (lambda t: (t, (t - s[0]) - y))(s[0] + y))(x - s[1]); "
       "functools.reduce(kahan, [np.float32(0.1)] * 10000, (np.float32(0), np.float32(0)))[0]", "1000.0",
       dtinfo.calc("sum(repeat(0.1, 10000))", "fp32", order="kahan"))

# %%
lesson("kahan = lambda s, x: (lambda y: (lambda t: (t, (t - s[0]) - y))(s[0] + y))(x - s[1]); "
       "functools.reduce(kahan, [bfloat16(1)] * 1000, (bfloat16(0), bfloat16(0)))[0]", "1000.0",
       dtinfo.calc("sum(repeat(1, 1000))", "bf16", order="kahan"))

# %%
# A fused product shows the error of 0.1 that a rounded one hides.
lesson("[0.1 * 10 - 1, float(Fraction(0.1) * 10 - 1)]", "0.0  5.551115123125783e-17",
       [dtinfo.calc("0.1 * 10 - 1", "fp64"), dtinfo.calc("0.1 * 10 - 1", "fp64", fma=True)])

# %%
lesson("np.linspace(0, 1, 5).astype(np.float16)", "0.0  0.25  0.5  0.75  1.0",
       dtinfo.calc("linspace(0, 1, 5)", "fp16"))

# %%
lesson("np.arange(0, 0.5, 0.1).astype(np.float16)",
       "0.0  0.0999755859375  0.199951171875  0.300048828125  0.39990234375",
       dtinfo.calc("arange(0, 0.5, 0.1)", "fp16"))

# %%
# Hardware that flushes subnormal numbers has zero instead of 2^-15 in float16.
lesson("[np.float16(2.0 ** -15), np.float16(0)]", "3.0517578125e-05  0.0",
       [dtinfo.calc("2^-15", "fp16"), dtinfo.calc("2^-15", "fp16", flush=True)])

# %%
# The mean of numbers that fit, of which the sum does not.
lesson("functools.reduce(operator.add, [np.float16(60000)] * 4) / np.float16(4)", "inf",
       dtinfo.calc("mean(repeat(60000, 4))", "fp16"))

# %%
lesson("np.full(4, 60000, np.float16).mean(dtype=np.float32).astype(np.float16)", "60000.0",
       dtinfo.calc("mean(repeat(60000, 4))", "fp16", accumulate="fp32"))

# %%
# E[x^2] - E[x]^2 cancels.
lesson("x = np.float32([10000, 10001, 10002]); (x * x).mean() - x.mean() * x.mean()", "0.0",
       dtinfo.calc("x = [10000, 10001, 10002]; m = mean(x); mean(x*x) - m*m", "fp32"))

# %%
lesson("np.float32([10000, 10001, 10002]).var()", "0.6666666865348816",
       dtinfo.calc("var([10000, 10001, 10002])", "fp32"))

# %%
lesson("[t(0.1) * t(0.4) + t(0.2) * t(0.5) + t(0.3) * t(0.6) for t in (np.float32, bfloat16, np.float16)]",
       "0.3199999928474426  0.3203125  0.31982421875",
       [dtinfo.calc("dot([0.1, 0.2, 0.3], [0.4, 0.5, 0.6])", d) for d in ("fp32", "bf16", "fp16")])

# %%
# Tensor cores multiply bfloat16 exactly and add in float32: only the inputs and the result are bfloat16.
lesson("a, b = torch.tensor([0.1, 0.2, 0.3]).bfloat16(), torch.tensor([0.4, 0.5, 0.6]).bfloat16(); "
       "(a.float() * b.float()).sum().bfloat16()", "0.3203125",
       dtinfo.calc("dot([0.1, 0.2, 0.3], [0.4, 0.5, 0.6])", "bf16", accumulate="fp32"))

# %%
lesson("np.dot(np.int8([100, 100]), np.int8([2, 2]))", "-112",
       dtinfo.calc("dot([100, 100], [2, 2])", "int8", overflow="wrap"))

# %%
# int8 kernels accumulate in int32, for this reason.
lesson("np.dot(np.int32([100, 100]), np.int32([2, 2]))", "400", dtinfo.calc("dot([100, 100], [2, 2])", "int32"))

# %%
lesson("(np.int32([[1, 2], [3, 4]]) @ np.int32([[5, 6], [7, 8]]))", "19  22  43  50",
       dtinfo.calc("matmul([[1, 2], [3, 4]], [[5, 6], [7, 8]])", "int32"))

# %%
# "The norm fits, so it can be computed": the squares overflow. Gradients are clipped by norms in float32.
lesson("np.sqrt(np.float16(300) * np.float16(300) + np.float16(400) * np.float16(400))", "inf",
       dtinfo.calc("norm([300, 400])", "fp16"))

# %%
lesson("torch.linalg.vector_norm(torch.tensor([300.0, 400.0]).half())", "500.0",
       dtinfo.calc("norm([300, 400])", "fp16", accumulate="fp32"))

# %%
lesson("torch.nn.functional.layer_norm(torch.tensor([1.0, 2.0, 3.0, 4.0]).bfloat16(), (4,))",
       "-1.34375  -0.447265625  0.447265625  1.34375",
       dtinfo.calc("layernorm([1, 2, 3, 4])", "bf16", accumulate="fp32"))

# %%
# How far bfloat16 is from float32, on average over the activations of a layer.
with dtinfo.open(SAMPLE + "/activations.npy") as file:
    activations = file["data"].read()
lesson('x = torch.from_numpy(np.load(SAMPLE + "/activations.npy")); '
       "y, z = torch.nn.functional.layer_norm(x, (32,)), torch.nn.functional.layer_norm(x.bfloat16(), (32,)); "
       "(z.double() - y.double()).abs().mean()", "0.0013957246446807403",
       dtinfo.compare(dtinfo.calc("layernorm(h)", "bf16", h=activations, accumulate="fp32"),
                      dtinfo.calc("layernorm(h)", "fp32", h=activations)).mean_absolute)

# %% [markdown]
# ## 7. Integers

# %%
lesson("np.int8(127) + np.int8(1)", "-128", dtinfo.calc("127+1", "int8", overflow="wrap"))

# %%
# "int8 arithmetic saturates": DSPs and quantized kernels clamp, numpy and torch wrap.
lesson("np.clip(np.int32(127) + 1, -128, 127)", "127", dtinfo.calc("127+1", "int8"))

# %%
lesson("np.uint8(3) - np.uint8(5)", "254", dtinfo.calc("3-5", "uint8", overflow="wrap"))

# %%
lesson("np.uint8(200) + np.uint8(100)", "44", dtinfo.calc("200+100", "uint8", overflow="wrap"))

# %%
# The magnitude of the least int8 is not an int8.
lesson("np.abs(np.int8(-128))", "-128", dtinfo.calc("abs(-128)", "int8", overflow="wrap"))

# %%
lesson("np.int32(2147483647) + np.int32(1)", "-2147483648", dtinfo.calc("2147483647+1", "int32", overflow="wrap"))

# %%
# "Integer division rounds down": that of Python does; C, CUDA and torch's "trunc" go toward zero.
lesson('torch.div(torch.tensor(-7, dtype=torch.int8), 2, rounding_mode="trunc")', "-3", dtinfo.calc("-7/2", "int8"))

# %%
lesson('torch.div(torch.tensor(-7, dtype=torch.int8), 2, rounding_mode="floor")', "-4",
       dtinfo.calc("-7/2", "int8", round="down"))

# %%
# The sum of 16777216 and 1 of type float32 and of type int32.
lesson("[np.float32(16777216) + np.float32(1), np.int32(16777216) + np.int32(1)]", "16777216.0  16777217",
       [dtinfo.calc("16777216+1", d) for d in ("fp32", "int32")])

# %%
lesson("np.clip(np.int32([300, -7, 42]), 0, 255)", "255  0  42",
       dtinfo.calc("min(max([300, -7, 42], 0), 255)", "int32"))

# %%
# "Division of integers rounds to nearest": it truncates, 0.75 becomes 0.
lesson("[int(np.int8(3) / np.int8(4)), int(np.int8(-3) / np.int8(4))]", "0  0", dtinfo.calc("[3, -3] / 4", "int8"))

# %% [markdown]
# ## 8. Quantization

# %%
# "Symmetric int8 uses -128": the scale is the largest magnitude / 127, and -128 stays unused.
lesson("x = np.float32([1.2, -0.5, -3.1]); np.rint(x / (np.abs(x).max() / np.float32(127))).astype(np.int8)",
       "49  -20  -127", dtinfo.quantize([1.2, -0.5, -3.1], "int8").codes)

# %%
lesson("np.abs(np.float32([1.2, -0.5, -3.1])).max() / np.float32(127)", "0.024409448727965355",
       dtinfo.quantize([1.2, -0.5, -3.1], "int8").scales)

# %%
# Dequantized: code times scale.
lesson("x = np.float32([1.2, -0.5, -3.1]); s = np.abs(x).max() / np.float32(127); np.rint(x / s) * s",
       "1.1960630416870117  -0.4881889820098877  -3.0999999046325684",
       dtinfo.quantize([1.2, -0.5, -3.1], "int8").dequantize())

# %%
# Affine uint8: the range has 255 steps, and 0 is one of them.
affine = dtinfo.quantize([-1, 0.5, 2.54], "uint8")
lesson("s = (np.float32(2.54) - np.float32(-1)) / np.float32(255); [s, int(np.rint(1 / s))]",
       "0.013882352970540524  72", [affine.scales, affine.zero_points])

# %%
lesson("x = np.float32([-1, 0, 0.5, 2.54]); "
       "s = (x.max() - x.min()) / np.float32(255); "
       "q = np.clip(np.rint(x / s) + np.rint(1 / s), 0, 255); "
       "(q - np.rint(1 / s)).astype(np.float32) * s",
       "-0.9995294213294983  0.0  0.49976471066474915  2.540470600128174",
       dtinfo.quantize([-1, 0, 0.5, 2.54], "uint8").dequantize())

# %%
# One outlier takes all the codes: why scales are per channel or block.
lesson("x = np.float32([0.1, 0.2, 0.3, 100]); np.rint(x / (x.max() / np.float32(127))).astype(np.int8)",
       "0  0  0  127", dtinfo.quantize([0.1, 0.2, 0.3, 100], "int8").codes)

# %%
packed = dtinfo.quantize([0.7, -0.3, 0.1], "int4").codes.tolist()  # two codes to a byte, the first in its low half
lesson("x = np.float32([0.7, -0.3, 0.1]); np.rint(x / (np.abs(x).max() / np.float32(7))).astype(np.int8)", "7  -3  1",
       dtinfo.from_codes(bytes([packed[0] & 15, packed[0] >> 4, packed[1]]), "int4"))

# %%
# A dot product of codes is a dot product of numbers: one multiplication by both scales in the end.
lesson("int(np.dot(np.int32([127, -64, 32]), np.int32([10, 20, 30])))", "950",
       dtinfo.calc("dot([127, -64, 32], [10, 20, 30])", "int32"))

# %% [markdown]
# ## 9. Memory

# %%
# BLOOM, 176 billion parameters.
lesson("[176 * 10 ** 9 * bits // 8 for bits in (32, 16, 8, 4)]",
       "704000000000  352000000000  176000000000  88000000000",
       [176 * 10 ** 9 * dtinfo.dtype(d).bits // 8 for d in ("fp32", "bf16", "int8", "int4")])

# %%
# "A 7B model in bfloat16 has 14 GiB": it has 14 GB, which are 13.04 of the GiB that nvidia-smi shows.
bf16_bytes = 7 * 10 ** 9 * dtinfo.dtype("bf16").itemsize
lesson("[7 * 10 ** 9 * 2, round(7 * 10 ** 9 * 2 / 2 ** 30, 2)]", "14000000000  13.04",
       [bf16_bytes, round(bf16_bytes / 2 ** 30, 2)])

# %%
# Adam in mixed precision: weights 2, gradients 2, master copy 4, two moments 4 each.
adam = sum(dtinfo.dtype(d).itemsize for d in ("bf16", "bf16", "fp32", "fp32", "fp32"))
lesson("[2 + 2 + 4 + 4 + 4, (2 + 2 + 4 + 4 + 4) * 7 * 10 ** 9]", "16  112000000000", [adam, adam * 7 * 10 ** 9])
