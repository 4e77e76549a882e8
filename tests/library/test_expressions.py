# SPDX-License-Identifier: MIT
"""Expressions over arrays, through the library: fp64, fp32 and fp16 against numpy, all other formats against exact rationals
(arithmetic.py, formats.py), with broadcasting, operands of other formats, and true values."""

import random
import sys
from fractions import Fraction

import formats
from arithmetic import add, div, fma, mul, sqrt, sub
from formats import FORMATS
from judging import judge

try:
    import numpy
except ImportError:
    numpy = None

OPERATIONS = {"+": add, "-": sub, "*": mul, "/": div}


def container(fmt):
    bits = 8 if fmt.kind == "bool" else fmt.width
    return next(size for size in (1, 2, 4, 8) if bits <= 8 * size)


def hexadecimal(fmt, codes):
    shift = 13 if fmt.name == "tf32" else 0     # the code is in the high bits, so the container is an fp32
    return b"".join((code << shift).to_bytes(container(fmt), "little") for code in codes).hex()


def operand(name, fmt, shape, codes):
    return f"{name}:{fmt.name}:{','.join(map(str, shape))}:{hexadecimal(fmt, codes)}"


def question(text, fmt, want, operands=(), order="-", options="-", accumulate="-"):
    shape, codes, first, different = want
    return ["calc", text, fmt.name, order, options, accumulate, shape, codes, first, different, *operands]


# numpy.

def by_numpy(rng):
    if not numpy:
        return
    draw = numpy.random.default_rng(rng.getrandbits(32))
    for name, dtype in (("fp32", numpy.float32), ("fp64", numpy.float64), ("fp16", numpy.float16)):
        fmt = FORMATS[name]
        wide = 3 if name == "fp16" else 30

        def array(*shape):
            sizes = numpy.exp2(draw.uniform(-wide, wide, shape))
            return (sizes * draw.choice([-1, 1], shape)).astype(dtype)

        def given(**arrays):
            return [f"{key}:{name}:{','.join(map(str, x.shape))}:{x.tobytes().hex()}" for key, x in arrays.items()]

        def want(result):
            result = numpy.asarray(result, dtype)
            return ",".join(map(str, result.shape)), result.tobytes().hex(), "?", "?"

        for _ in range(60):
            x, y, z = array(3, 5), array(5), array(3, 1)
            long = array(2000)
            with numpy.errstate(all="ignore"):
                yield question("x + y", fmt, want(x + y), given(x=x, y=y))
                yield question("(x - y) / z", fmt, want((x - y) / z), given(x=x, y=y, z=z))
                yield question("x*y - z*x", fmt, want(x * y - z * x), given(x=x, y=y, z=z))
                yield question("t = abs(x); sqrt(t) + t", fmt, want(numpy.sqrt(abs(x)) + abs(x)), given(x=x))
                yield question("max(min(x, y), z)", fmt, want(numpy.maximum(numpy.minimum(x, y), z)),
                               given(x=x, y=y, z=z))
                yield question("sum(w)", fmt, want(numpy.cumsum(long, dtype=dtype)[-1]), given(w=long))
                yield question("w * w + w", fmt, want(long * long + long), given(w=long))
                halves = long[:1024]
                while len(halves) > 1:
                    halves = halves[::2] + halves[1::2]
                whole = numpy.concatenate([long[:1024].reshape(-1)])
                yield question("sum(w)", fmt, want(halves[0]), given(w=whole), order="pairwise")
        a, b = array(4, 6), array(6, 3)
        product = numpy.zeros((4, 3), dtype)
        for k in range(6):
            terms = a[:, k:k + 1] * b[k]
            product = terms if k == 0 else product + terms
        yield question("matmul(a, b)", fmt, want(product), given(a=a, b=b))
        empty = numpy.zeros((0,), dtype)
        yield question("e + 1", fmt, want(empty), given(e=empty))


# Exact rationals.

def rounded(fmt, result):
    cls, negative, value = result[:3]
    mode = "nearest-even" if fmt.is_float else "zero"
    return formats.encode(fmt, cls, bool(negative), value or Fraction(0), mode)[0]


def stored(fmt, number):
    return fmt.decode(rounded(fmt, number))


def some_code(fmt, rng):
    """A number of ordinary size."""
    while True:
        code = rng.getrandbits(1) if fmt.kind == "bool" else rng.getrandbits(fmt.width)
        if rng.random() < 0.5 and fmt.width > 16:
            code = rounded(fmt, formats.number(rng.random() < 0.5, Fraction(rng.randint(1, 999), rng.choice((1, 8, 64)))))
        cls, _, value = fmt.decode(code)
        if cls in ("zero", "finite") and (value == 0 or abs(formats.floor_log2(value)) < 60):
            return code


def by_rationals(rng, count):
    everything = [fmt for fmt in FORMATS.values() if fmt.name != "e15m48"]
    for _ in range(count):
        fmt = rng.choice(everything)
        kinds = [rng.choice((fmt, rng.choice(everything), FORMATS["fp32"])) for _ in range(3)]
        n = rng.choice((1, 2, 7))
        codes = [[some_code(kind, rng) for _ in range(n)] for kind in kinds]
        given = [operand(name, kind, (n,), own) for name, kind, own in zip("xyz", kinds, codes)]
        first, second = rng.choice("+-*"), rng.choice("+-*/")
        contracts = first == "*" and second in "+-" and rng.random() < 0.5
        results, different = [], 0
        for i in range(n):
            numbers = [kind.decode(own[i]) for kind, own in zip(kinds, codes)]
            x, y, z = (stored(fmt, number) for number in numbers)
            if contracts:
                z_signed = (z[0], z[1] != (second == "-"), z[2]) if z[0] != formats.NAN else z
                code = rounded(fmt, fma(x, y, z_signed))
            else:
                code = rounded(fmt, OPERATIONS[second](stored(fmt, OPERATIONS[first](x, y)), z))
            results.append(code)
            exact = [-v if negative else v for _, negative, v in numbers]
            different += differs(fmt.decode(code), first, second, *exact)
        options = ("f" if contracts else "") + ("t" if rng.random() < 0.5 else "")
        if any(fmt.decode(code)[0] == formats.NAN for code in results):
            continue        # whose signs and payloads are not the model's business
        want = (str(n), hexadecimal(fmt, results), "?", different if "t" in options else "?")
        yield question(f"(x {first} y) {second} z" if not contracts else f"x*y {second} z", fmt, want, given,
                       options=options or "-")


def differs(number, first, second, x, y, z):
    """Whether a result is not the value of the expression over the numbers that were given."""
    left = x + y if first == "+" else x - y if first == "-" else x * y
    if second == "/" and z == 0:
        return number[0] != formats.NAN     # the true value is undefined
    truth = left + z if second == "+" else left - z if second == "-" else left * z if second == "*" else left / z
    return number[0] not in ("zero", "finite") or (-number[2] if number[1] else number[2]) != truth


# What goes wrong, and texts.

def by_hand():
    bf16, fp16, fp32, tf32 = (FORMATS[name] for name in ("bf16", "fp16", "fp32", "tf32"))
    x = operand("x", fp16, (2,), [0x3c00, 0x4000])
    yield question("256 + 1", bf16, ("", hexadecimal(bf16, [0x4380]), "absorbed: 256 + 1 = 256 (spacing 2)", "?"))
    yield question("10k*10k", fp16, ("", hexadecimal(fp16, [0x7c00]), "overflow at 10000*10000: 1e+08 > 65504", "?"))
    yield question("1/3", fp32, ("", hexadecimal(fp32, [0x3eaaaaab]), "-", 1), options="t")
    yield question("x + x", tf32, ("2", hexadecimal(tf32, [0x20000, 0x20400]), "-", "?"), [x])
    yield question("t", tf32, ("", hexadecimal(tf32, [0x1fc01]), "-", "?"), [operand("t", tf32, (), [0x1fc01])])
    yield question("x = 5; x", fp16, ("", hexadecimal(fp16, [0x4500]), "-", "?"), [x])
    yield question("sum(repeat(1, 1000))", bf16, ("", hexadecimal(bf16, [0x447a]), "?", "?"), accumulate="fp32")
    yield question("sum(repeat(1, 1000))", bf16, ("", hexadecimal(bf16, [0x4380]), "?", "?"))
    yield question("sum(repeat(1, 1000))", bf16, ("", hexadecimal(bf16, [0x447a]), "?", "?"), order="blocked:16")
    yield question("f + 1", FORMATS["fp8_e4m3fn"], ("1", "3c", "?", "?"), ["f:fp4_e2m1:1:f1"])
    yield question("b + b", FORMATS["int8"], ("2", "0200", "?", "?"), ["b:bool:2:0700"])

    def failure(text, status, message, operands=(), fmt=fp16, **more):
        return question(text, fmt, ("!" + status, message, "?", "?"), operands, **more)

    yield failure("x + q", "bad_value", "'q' is not defined; a name gets its value first: 'x = 2; x*x'", [x])
    yield failure("@x.npy", "bad_value", "'x.npy': files are not read here; give the array a name")
    yield failure("x", "usage", "two arrays have the name 'x'", [x, x])
    for name in ("sin", "inf", "1x", "a-b", ""):
        yield failure("1", "usage", f"'{name}' is no name for an array: letters, digits and _ are, unless they mean "
                      "something else", [x.replace("x:", name + ":", 1)])
    yield failure("x + y", "bad_value", "the shapes in 'x + y' do not match: [2] and [3]",
                  [x, operand("y", fp16, (3,), [0, 0, 0])])
    yield failure("c", "wrong_kind", "c holds complex64, which has no arithmetic here",
                  ["c:complex64:1:0000000000000000"])
    yield failure("1", "unknown_option", "the order of a sum is sequential, pairwise, blocked:N (N from 1 on) or kahan; "
                  "got 'blocked:0'", order="blocked:0")
    yield failure("1", "wrong_kind", "the accumulator int32 drops the fractions of fp16; use a float such as fp32",
                  accumulate="int32")


def lines(count):
    rng = random.Random(7)
    yield from by_hand()
    yield from by_numpy(rng)
    yield from by_rationals(rng, count)


if __name__ == "__main__":
    sys.exit(judge(sys.argv[1], lines(int(sys.argv[2]) if len(sys.argv) > 2 else 4000)))
