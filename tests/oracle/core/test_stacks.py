# SPDX-License-Identifier: MIT
"""`cast --like` against the emulated stacks themselves: torch, numpy and ml_dtypes, each optional. The same fp64 and
int64 inputs go through the real library and the program; codes must be equal wherever the program claims to know the
result, and it must claim so for nearly all of them.

Usage: test_stacks.py DTINFO
"""

import importlib
import json
import math
import random
import subprocess
import sys

from harness import Tally

TORCH = {
    "fp32": "float32", "fp16": "float16", "bf16": "bfloat16", "fp8_e4m3fn": "float8_e4m3fn",
    "fp8_e5m2": "float8_e5m2", "fp8_e4m3fnuz": "float8_e4m3fnuz",
    "fp8_e5m2fnuz": "float8_e5m2fnuz", "fp8_e8m0": "float8_e8m0fnu",
    "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64", "uint8": "uint8",
    "bool": "bool",
}
NUMPY = {
    "fp32": "float32", "fp16": "float16", "int8": "int8", "int16": "int16", "int32": "int32",
    "int64": "int64", "uint8": "uint8", "uint16": "uint16", "uint32": "uint32",
    "uint64": "uint64", "bool": "bool",
}
ML_DTYPES = {
    "bf16": "bfloat16", "fp8_e5m2": "float8_e5m2", "fp8_e4m3fn": "float8_e4m3fn",
    "fp8_e5m2fnuz": "float8_e5m2fnuz", "fp8_e4m3fnuz": "float8_e4m3fnuz",
    "fp8_e4m3": "float8_e4m3", "fp8_e3m4": "float8_e3m4",
    "fp8_e4m3b11fnuz": "float8_e4m3b11fnuz", "fp8_e8m0": "float8_e8m0fnu",
    "fp6_e3m2": "float6_e3m2fn", "fp6_e2m3": "float6_e2m3fn", "fp4_e2m1": "float4_e2m1fn",
    "int2": "int2", "int4": "int4", "uint2": "uint2", "uint4": "uint4",
}


def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def inputs():
    """Floats and integers for every edge case: range limits, ties, subnormals, and both sides of them."""
    chance = random.Random(20)
    floats = [0.0, -0.0, math.inf, -math.inf, math.nan, 0.5, 1.5, 2.5, -1.5, 448.0, 464.0, 465.0, 480.0,
              61439.99, 61440.0, 65504.0, 65519.99999999907, 65520.0, 240.0, 248.0, 15.75, 30.0, 31.0,
              1.0004882812509095, 1.0039062500009095, 1.0625000000009095, 1e300, -1e300, 1e-300,
              3.4e38, 3.5e38, 2.0**127, 1.5 * 2.0**127, 2.0**-127, 1.4 * 2.0**-127, 2.0**-126,
              2.0**-128, 6.0, 7.0, -7.0, 28.0, 30.0, 7.75]
    for _ in range(3000):
        floats.append(math.ldexp(chance.uniform(-2, 2), chance.randint(-30, 20)))
        floats.append(math.ldexp(chance.randint(-4096, 4096), chance.randint(-24, 8)))
    for _ in range(500):
        floats.append(math.ldexp(chance.uniform(-2, 2), chance.randint(-160, 140)))
    integers = [0, 1, -1, 127, 128, -128, -129, 255, 256, 300, 257, 259, 2049, 2051, 65519, 65520,
                16842753, 2**60 + 2**52 + 1, 2**60 + 2**36 + 1, 2**63 - 1, -2**63, 464, 465]
    integers += [chance.randint(-2**62, 2**62) >> chance.randint(0, 60) for _ in range(2000)]
    return floats, integers


def ours(program, stack, dtype, texts):
    """The stored codes, or None if the answer is unknown."""
    done = subprocess.run([program, "cast", "-", dtype, "--like", stack, "--jsonl"],
                          input=("\n".join(texts) + "\n").encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    codes = []
    for line in done.stdout.decode().splitlines():
        record = json.loads(line)
        codes.append(int(record["results"][0]["bits"], 16) if "results" in record else None)
    return codes


def theirs_numpy(numpy, source, dtype, values):
    made = numpy.array(values, dtype=source).astype(dtype)
    width = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64"}[made.dtype.itemsize]
    return [int(code) for code in made.view(width)]


def theirs_torch(torch, source, dtype, values):
    # Element by element and as a whole: scalar and vector code must agree, otherwise there is no single answer to
    # compare with.
    made = torch.tensor(values, dtype=source).to(dtype)
    size = made.element_size()
    raw = made.view(torch.uint8).reshape(-1, size)
    return [int.from_bytes(bytes(row), "little") for row in raw.tolist()]


def compare(tally, program, stack, dtype, texts, theirs, mask):
    own = ours(program, stack, dtype, texts)
    if len(own) != len(texts):
        tally.differ(f"{stack} {dtype}", f"{len(own)} answers", f"{len(texts)}")
        return
    known = 0
    for text, code, other in zip(texts, own, theirs):
        if code is None:
            continue
        known += 1
        tally.check(f"{stack} {dtype} {text}", hex(code), hex(other & mask))
    tally.check(f"{stack} {dtype}: some answers are known", known > len(texts) // 20, True)


def main():
    program = sys.argv[1]
    tally = Tally()
    floats, integers = inputs()
    float_texts = [repr(x) for x in floats]
    integer_texts = [str(x) for x in integers]
    numpy, ml_dtypes, torch = optional("numpy"), optional("ml_dtypes"), optional("torch")
    masks = {"int2": 3, "uint2": 3, "int4": 15, "uint4": 15, "fp6_e3m2": 63, "fp6_e2m3": 63,
             "fp4_e2m1": 15}
    if numpy is None:
        tally.skip("numpy")
        tally.finish()
    numpy.seterr(all="ignore")
    libraries = [("numpy", NUMPY, lambda name: numpy.dtype(name))]
    if ml_dtypes is None:
        tally.skip("ml_dtypes")
    else:
        libraries.append(("ml_dtypes", ML_DTYPES, lambda name: numpy.dtype(getattr(ml_dtypes, name))))
    for stack, dtypes, get in libraries:
        for name, other in dtypes.items():
            for source, values, texts in ((numpy.float64, floats, float_texts),
                                          (numpy.int64, integers, integer_texts)):
                theirs = theirs_numpy(numpy, source, get(other), values)
                compare(tally, program, stack, name, texts, theirs, masks.get(name, 2**64 - 1))
        tally.part(stack)
    version = tuple(int(n) for n in torch.__version__.split(".")[:2]) if torch else (0, 0)
    if torch is None or version < (2, 5):
        tally.skip("torch 2.5 or newer")
        tally.finish()
    stack = "torch" if version >= (2, 13) else "torch-2.12"
    for name, other in TORCH.items():
        for source, values, texts in ((torch.float64, floats, float_texts),
                                      (torch.int64, integers, integer_texts)):
            theirs = theirs_torch(torch, source, getattr(torch, other), values)
            compare(tally, program, stack, name, texts, theirs, 2**64 - 1)
    tally.part(stack)
    tally.finish()


if __name__ == "__main__":
    main()
