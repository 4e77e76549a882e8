# SPDX-License-Identifier: MIT
"""Why did my fp16 loss become NaN? Asks a recorded activation, in cells; needs dtinfo alone.

The activation is what a hook on a layer saved with numpy.save() in the step before the loss was NaN.
"""
# %%
import os

import dtinfo

SAMPLE = os.path.join(os.path.dirname(os.path.abspath(globals().get("__file__", "fp16_nan.py"))), "../../sample")
RECORDED = os.path.join(SAMPLE, "activations.npy")

# %% [markdown]
# ## 1. Is there a number that fp16 does not have?

# %%
with dtinfo.open(RECORDED) as file:
    h = file["data"].read()
stats = dtinfo.stats(h)
print("the activation")
print(stats)
print("fits", *(name for name in ("fp16", "bf16", "fp32") if stats.fits(name)))

# %%
# The assertion for tests says which number it is.
try:
    dtinfo.testing.assert_fits(h, "fp16")
except AssertionError as error:
    print(error)
row, column = divmod(stats.absmax_index, h.shape[1])
print("that is token %d, channel %d" % (row, column))

# %%
# dtinfo.check() asks whole files and checkpoints the same.
print("the file fits fp16:", dtinfo.check(RECORDED, fits="fp16").ok)
print("the file fits bf16:", dtinfo.check(RECORDED, fits="bf16").ok)

# %% [markdown]
# ## 2. What does the loss make of it?

# %%
# The loss is a mean over normalized activations. calc() computes it with each operation rounded to a dtype and reports
# what went wrong, the first thing in words: 70000 is infinite in fp16, so is the mean, and their difference is NaN.
LOSS = "d = x - mean(x); mean(abs(d / sqrt(mean(d*d) + 1e-5)))"
print("\nthe loss")
for dtype in ("fp16", "bf16", "fp32"):
    loss, report = dtinfo.calc(LOSS, dtype, x=h, report=True)
    print("%s  %-10.4g %d overflows, %d NaN; first %s" % (dtype, loss.tolist(), report.overflows, report.nans,
                                                         report.first))

# %% [markdown]
# ## 3. What helps?

# %%
print("\nwhat helps")


def tried(what, expression, dtype, **options):
    loss, report = dtinfo.calc(expression, dtype, x=h, report=True, **options)
    print("%-34s %-8.4g %d overflows, %d NaN" % (what, loss.tolist(), report.overflows, report.nans))


# A wider sum does not: the number is infinite before it is added.
tried("fp16, sums in fp32", LOSS, "fp16", accumulate="fp32")
# A clamp alone hides it: the number fits, its square does not, and the loss is 0.
tried("fp16, clamped", "x = min(x, 60000); " + LOSS, "fp16")
# bf16 has the range of fp32. With 8 bits, its sums need fp32.
tried("bf16, sums in fp32", LOSS, "bf16", accumulate="fp32")
# The statistics of a normalization in fp32, as torch.autocast has them.
tried("fp32", LOSS, "fp32")

# %%
# What is then stored in fp16 is the normalized activation, which fits.
normalized = dtinfo.calc("layernorm(x)", "fp32", x=h)
print("normalized in fp32, it fits fp16:", dtinfo.stats(normalized).fits("fp16"))
stored, report = dtinfo.cast(normalized, "fp16", report=True)
print(report)
