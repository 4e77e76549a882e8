# SPDX-License-Identifier: MIT
"""Arithmetic against other implementations: NumPy and ml_dtypes (codes, to nearest even) on all pairs of a stratified
sample, and Berkeley SoftFloat (codes and flags, five rounding modes, including fused multiply-add), the reference
behind TestFloat; each is optional. NaNs are compared by class. Excluded:

  ml_dtypes  bf16 is computed in fp32 and rounded again: products and quotients below the smallest
             normal are rounded twice where fp32 has no more bits for them.
  SoftFloat  raises underflow if a result is tiny after rounding with unbounded exponents. Here the
             stored number decides, so a result that rounds up to the smallest normal is no
             underflow: in that case the flag is not compared. Its Python binding lacks stochastic
             rounding and rounding to odd; test_arith.py covers them.
  SoftFloat  a signalling NaN raises invalid there and no flag here: only quiet NaNs are used.
"""

import random

import arithmetic
from formats import FORMATS, INEXACT, OVERFLOW, UNDERFLOW
from harness import Tally, arguments, have

OPS = ("add", "sub", "mul", "div", "sqrt")
NUMPY_NAMES = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "sqrt": "sqrt"}


def sample(fmt, count, rng):
    """Codes of both signs: exponents from both ends, around 1 and everywhere; mantissas with runs of ones, single bits
    and random bits."""
    top = (1 << fmt.exp) - 1
    edges = [0, 1, 2, fmt.man, fmt.man + 2, fmt.bias - fmt.man - 1, fmt.bias - fmt.man,
             fmt.bias - 1, fmt.bias, fmt.bias + 1, fmt.bias + fmt.man, fmt.bias + fmt.man + 1,
             top - 2, top - 1, top]
    ones = (1 << fmt.man) - 1
    codes = []
    while len(codes) < count:
        exponent = rng.choice(edges) if rng.random() < 0.7 else rng.randrange(top + 1)
        bit = 1 << rng.randrange(fmt.man)
        mantissa = rng.choice([0, 1, ones, bit, bit - 1, ones - bit, ones + 1 - bit,
                               rng.randrange(ones + 1)])
        if exponent == top and mantissa:
            mantissa |= 1 << fmt.man - 1        # quiet
        codes.append(rng.randrange(2) << fmt.width - 1 | exponent << fmt.man | mantissa)
    return codes


def is_nan(np, fmt, codes):
    inf = np.uint64(((1 << fmt.exp) - 1) << fmt.man)
    return (codes & np.uint64((1 << fmt.width - 1) - 1)) > inf


def check_numpy(tally, probe, np, name, dtype, count):
    fmt = FORMATS[name]
    code_type = f"u{fmt.width // 8}"
    rng = random.Random(f"numpy {name}")
    codes = np.array(sample(fmt, count, rng), dtype=np.uint64)
    for op in OPS:
        pairs = np.zeros((count * (1 if op == "sqrt" else count), 3), dtype=np.uint64)
        pairs[:, 0] = codes if op == "sqrt" else np.repeat(codes, count)
        pairs[:, 1] = 0 if op == "sqrt" else np.tile(codes, count)
        answer = probe.ask([(op, name, "nearest-even", "native", 0, pairs.tobytes())])[0]
        got = np.frombuffer(answer, dtype=np.uint64)[0::2]
        numbers = [pairs[:, k].astype(code_type).view(dtype) for k in range(2)]
        with np.errstate(all="ignore"):
            theirs = getattr(np, NUMPY_NAMES[op])(*numbers[:1 if op == "sqrt" else 2])
        want = theirs.astype(dtype).view(code_type).astype(np.uint64)
        same = (got == want) | (is_nan(np, fmt, got) & is_nan(np, fmt, want))
        if name == "bf16" and op in ("mul", "div"):
            magnitudes = got & np.uint64((1 << fmt.width - 1) - 1)
            same |= magnitudes <= np.uint64(1 << fmt.man)
        tally.checked += len(pairs)
        for i in np.flatnonzero(~same):
            tally.differ(f"{name} {op} {int(pairs[i, 0]):#x} {int(pairs[i, 1]):#x}",
                         hex(got[i]), hex(want[i]))
    tally.part(f"numpy {name}")


class SoftFloat:
    """One operation of one width in all of its modes, on codes."""

    MODES = {"nearest-even": "NEAR_EVEN", "nearest-away": "NEAR_MAX_MAG", "zero": "MIN_MAG",
             "up": "MAX", "down": "MIN"}

    def __init__(self, module, width):
        self.module, self.width = module, width
        self.type = getattr(module, f"Float{width}")
        module.set_tininess_mode(module.TininessMode.AFTER_ROUNDING)
        one = self.type.from_float(1.0).to_bytes()
        self.order = "big" if one[0] else "little"

    def apply(self, op, mode, codes):
        module = self.module
        function = getattr(module, f"f{self.width}_{'mul_add' if op == 'fma' else op}")
        module.set_rounding_mode(module.RoundingMode[self.MODES[mode]])
        module.set_exception_flags(module.ExceptionFlag(0))
        size = self.width // 8
        result = function(*(self.type.from_bytes(code.to_bytes(size, self.order))
                            for code in codes))
        return int.from_bytes(result.to_bytes(), self.order), int(module.get_exception_flags())


def check_softfloat(tally, probe, module, name, count):
    fmt = FORMATS[name]
    soft = SoftFloat(module, fmt.width)
    rng = random.Random(f"softfloat {name}")
    smallest = 1 << fmt.man
    for op in OPS + ("fma",):
        operand_count = arithmetic.OPERATIONS[op][0]
        triples = []
        for _ in range(count):
            a, b, c = sample(fmt, 3, rng)
            if op == "fma" and rng.random() < 0.6:      # c close to -a*b, or half a step away
                c = soft.apply("mul", "nearest-even", (a, b))[0] ^ fmt.sign_bit
                shift = rng.choice([0, 0, 1, fmt.man - 1, fmt.man, fmt.man + 1, 2 * fmt.man])
                c = (c + rng.choice([-1, 1]) * (shift << fmt.man) + rng.randrange(-2, 3)) \
                    % (1 << fmt.width)
                if c & ~fmt.sign_bit > fmt.inf[0]:
                    c |= 1 << fmt.man - 1
            if operand_count == 2 and rng.random() < 0.3:   # close to a, or half a step away
                shift = rng.choice([0, 1, fmt.man, fmt.man + 1, fmt.man + 2])
                b = max((a & ~fmt.sign_bit) - (shift << fmt.man) + rng.randrange(-2, 3), 0) \
                    | rng.randrange(2) << fmt.width - 1
                if b & ~fmt.sign_bit > fmt.inf[0]:
                    b |= 1 << fmt.man - 1
            triples.append((a, b, c))
        data = arithmetic.records(triples)
        for mode in soft.MODES:
            answer = probe.ask([(op, name, mode, "native", 0, data)])[0]
            for triple, code, flags in zip(triples, answer[0::2], answer[1::2]):
                want, raised = soft.apply(op, mode, triple[:operand_count])
                ours = ((1 if flags & INEXACT else 0) | (2 if flags & UNDERFLOW else 0)
                        | (4 if flags & OVERFLOW else 0)
                        | (8 if flags & arithmetic.ARITH_BY_ZERO else 0)
                        | (16 if flags & arithmetic.ARITH_INVALID else 0))
                if code & ~fmt.sign_bit == smallest:
                    raised &= ~2
                    ours &= ~2
                if code in fmt.nan and want in fmt.nan:
                    code = want
                tally.check(f"{name} {op} {mode} " + " ".join(hex(x) for x in triple),
                            (hex(code), ours), (hex(want), raised))
    tally.part(f"SoftFloat {name}")


def main():
    path, long = arguments()
    tally, probe = Tally(), arithmetic.Probe(path)
    np, ml, soft = have("numpy"), have("ml_dtypes"), have("softfloatpy")
    count = 1024 if long else 128
    if np:
        for name, dtype in (("fp16", np.float16), ("fp32", np.float32), ("fp64", np.float64)):
            check_numpy(tally, probe, np, name, dtype, count)
    else:
        tally.skip("numpy is not installed")
    if np and ml:
        check_numpy(tally, probe, np, "bf16", ml.bfloat16, count)
    else:
        tally.skip("ml_dtypes is not installed")
    if soft:
        for name in ("fp16", "fp32", "fp64"):
            check_softfloat(tally, probe, soft, name, 50000 if long else 1000)
    else:
        tally.skip("softfloatpy is not installed")
    tally.finish()


if __name__ == "__main__":
    main()
