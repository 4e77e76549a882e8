# SPDX-License-Identifier: MIT
"""Expressions against independent references: random ones evaluated with Fractions, each step rounded by formats.py;
sums as NumPy and ml_dtypes add; softmax and layernorm against torch; random numbers from the published generator and
mpmath."""

import random
from fractions import Fraction

import formats
from calc_model import COUNTED, INFIX, Judge, random_word
from formats import FORMATS, NAN, ROUNDS
from harness import Tally, arguments, ask, have

DTYPES = ("fp16", "bf16", "fp32", "fp64", "fp8_e4m3fn", "fp8_e5m2", "fp6_e3m2", "fp4_e2m1", "fp8_e4m3fnuz",
          "binary8p3se", "e6m9", "int8", "uint8", "int32")
ORDERS = ("sequential", "pairwise", "blocked", "kahan")


def literal_text(rng, fmt):
    """A number that is awkward for the format."""
    kind = rng.randrange(8)
    if kind == 0:
        return str(rng.randrange(-300, 300))
    if kind == 1:
        return rng.choice(["0", "-0", "1", "-1", "0.1", "-0.3", "1e-8", "1e8"])
    if kind == 2:
        return rng.choice(["inf", "-inf", "nan", "0", "1"])
    if not fmt.is_float:
        return str(rng.choice([-1, 1]) * (fmt.max_code() >> rng.randrange(0, 8)) + rng.randrange(-2, 3))
    if kind < 6:        # a number of the format, or next to one
        index = rng.randrange(fmt.max_index + 1)
        value = fmt.magnitude(index)
        if rng.random() < 0.3:
            value += (fmt.magnitude(min(index + 1, fmt.max_index)) - value) / rng.choice([2, 3, 1])
        value = value.limit_denominator(10 ** 40) if value.denominator % 3 == 0 else value
        text = formats.decimal_text(value) if value.denominator & (value.denominator - 1) == 0 else "0.7"
    else:
        text = f"{rng.uniform(0.5, 2):.6f}"
    return rng.choice(["", "-"]) + text


def make(rng, fmt, depth, length):
    """A random tree; if length is not None it may be a list of that length."""
    if depth == 0 or rng.random() < 0.15:
        if length and rng.random() < 0.6:
            return ("list", [literal_text(rng, fmt) for _ in range(length)])
        return ("number", literal_text(rng, fmt))
    kind = rng.choice("+-*/+-*/" + "sfnaq")
    if kind in INFIX:
        return (kind, make(rng, fmt, depth - 1, length), make(rng, fmt, depth - 1, length))
    name, count = {"s": ("sqrt", 1), "f": ("fma", 3), "n": ("neg", 1), "a": ("abs", 1), "q": ("square", 1)}[kind]
    return (name,) + tuple(make(rng, fmt, depth - 1, length) for _ in range(count))


def spell(tree):
    kind = tree[0]
    if kind == "number":
        return f"({tree[1]})"
    if kind == "list":
        return "[" + ", ".join(tree[1]) + "]"
    if kind in INFIX:
        return f"({spell(tree[1])} {kind} {spell(tree[2])})"
    if kind == "square":
        return f"({spell(tree[1])})^2"
    return f"{kind}(" + ", ".join(spell(x) for x in tree[1:]) + ")"


def is_list(tree):
    return tree[0] == "list" or any(is_list(x) for x in tree[1:] if isinstance(x, tuple))


def fields(line):
    return line.split("\t")


def judge_expressions(probe, tally, count, seed):
    rng = random.Random(seed)
    lines, wants = [], []
    while len(lines) < count:
        fmt = FORMATS[rng.choice(DTYPES)]
        length = rng.choice([None, 2, 5, 17])
        tree = make(rng, fmt, rng.randrange(1, 4), length)
        if length and rng.random() < 0.7:
            parts = [make(rng, fmt, 1, length) for _ in range(2)]
            name = rng.choice(["sum", "prod", "dot"])
            if name == "dot":
                parts = [("+", ("list", ["0"] * length), part) for part in parts]
            tree = (name,) + tuple(parts[:2 if name == "dot" else 1])
        order, block = rng.choice(ORDERS), rng.choice([1, 2, 3, 8])
        contracts = rng.random() < 0.3
        if contracts and order in ("pairwise", "kahan"):
            order = "sequential"
        mode = rng.choice(ROUNDS + ("nearest-even",) * 6)
        mode = mode if fmt.is_float or rng.random() < 0.5 else None
        judge = Judge(fmt, mode, rng.choice(("native", "native", "saturate", "saturate-finite")),
                      rng.random() < 0.2, contracts, order, block, rng.randrange(100))
        want = judge.evaluate(tree)
        options = f"overflow={judge.overflow} order={order} block={block} seed={judge.seed} steps"
        options += f" round={mode}" if mode else ""
        options += " flush" if judge.flush else ""
        options += " fma" if contracts else ""
        lines.append(f"{spell(tree)}\t{fmt.name}\t{options}")
        wants.append((fmt, judge, want if isinstance(want, list) else [want]))
    answers = [line for line in ask(probe, lines) if not line.startswith(" ")]
    for line, answer, (fmt, judge, want) in zip(lines, answers, wants):
        got = fields(answer)
        if got[0] != "ok":
            tally.differ(line, answer, "a result")
            continue
        numbers = [fmt.decode(int(code, 16)) for code in got[2].split(",")]
        same = [a[0] == b[0] == NAN or a == b for a, b in zip(numbers, want)]
        tally.check(line, (len(numbers), all(same)), (len(want), True))
        counts = [int(x) for x in got[3].split(",")]
        tally.check(line + " events", counts[:COUNTED] + counts[-1:], judge.counts + [judge.inexact])


def judge_lists(probe, tally):
    """linspace and arange as Fractions, rounded."""
    lines, wants = [], []
    for dtype in ("fp16", "bf16", "fp32", "fp64", "fp8_e4m3fn", "int8"):
        fmt = FORMATS[dtype]
        mode = "nearest-even" if fmt.is_float else "zero"
        for a, b, n in (("0", "1", 7), ("-3", "0.1", 10), ("0.1", "0.7", 1), ("5e-30", "-1e30", 4),
                        ("1e-300", "1e-310", 3), ("0.123456789012345678901234567890123456789", "100", 11)):
            values = [Fraction(a) + (Fraction(i, n - 1) * (Fraction(b) - Fraction(a)) if n > 1 else 0)
                      for i in range(n)]
            lines.append(f"linspace({a}, {b}, {n})\t{dtype}\t")
            wants.append((fmt, mode, values))
        for a, b, step in (("0", "1", "0.1"), ("0", "0.30000000000000000001", "0.1"), ("3", "-2.5", "-0.7"),
                           ("-1e-3", "1e-3", "3e-4"), ("0", "1e-310", "3e-311")):
            values, at = [], Fraction(a)
            while (at < Fraction(b)) == (Fraction(step) > 0) and at != Fraction(b):
                values.append(at)
                at += Fraction(step)
            lines.append(f"arange({a}, {b}, {step})\t{dtype}\t")
            wants.append((fmt, mode, values))
    for line, answer, (fmt, mode, values) in zip(lines, ask(probe, lines), wants):
        codes = [f"{formats.encode(fmt, 'finite' if v else 'zero', v < 0, abs(v), mode)[0]:x}" for v in values]
        tally.check(line, fields(answer)[2], ",".join(codes))


def judge_random(probe, tally):
    seed = 12345
    for dtype, precision in (("fp32", 24), ("fp64", 53), ("bf16", 8)):
        fmt = FORMATS[dtype]
        answer = fields(ask(probe, [f"rand(101) + 0*rand(101)\t{dtype}\tseed={seed}"])[0])
        want = []
        for i in range(101):
            bits = random_word(seed, 1 << 31, 2 * i) << 32 | random_word(seed, 1 << 31, 2 * i + 1)
            value = Fraction(bits >> 64 - precision, 1 << precision)
            want.append(f"{formats.encode(fmt, 'finite' if value else 'zero', False, value)[0]:x}")
        tally.check(f"rand in {dtype}", answer[2], ",".join(want))
    mpmath = have("mpmath")
    if not mpmath:
        tally.skip("randn: mpmath is not installed")
        return
    mpmath.mp.prec = 200
    count, bits = 3000, 60
    answer = fields(ask(probe, [f"randn({count})\tfp32\tseed={seed}"])[0])[2].split(",")
    for i in range(count):
        pair = i // 2
        words = [random_word(seed, 1 << 31, 4 * pair + j) for j in range(4)]
        u = mpmath.mpf(((words[0] << 32 | words[1]) >> 64 - bits) + 1) / 2 ** bits
        v = mpmath.mpf((words[2] << 32 | words[3]) >> 64 - bits) / 2 ** bits
        value = mpmath.sqrt(-2 * mpmath.log(u)) * (mpmath.sin if i % 2 else mpmath.cos)(2 * mpmath.pi * v)
        exact = Fraction(int(mpmath.floor(value * 2 ** 150)), 2 ** 150)
        code = formats.encode(FORMATS["fp32"], "finite", exact < 0, abs(exact))[0]
        tally.check(f"randn({count}), element {i}", answer[i], f"{code:x}")


def judge_numpy(probe, tally):
    """Long enough for the kernels: chains of operations, and sequential sums."""
    numpy = have("numpy")
    if not numpy:
        tally.skip("sums: numpy is not installed")
        return
    types = {"fp32": (numpy.float32, numpy.uint32), "fp16": (numpy.float16, numpy.uint16)}
    if have("ml_dtypes"):
        types["bf16"] = (have("ml_dtypes").bfloat16, numpy.uint16)
    else:
        tally.skip("bf16: ml_dtypes is not installed")
    n = 70000
    for dtype, (number, word) in types.items():
        given = fields(ask(probe, [f"rand({n})\t{dtype}\tseed=3"])[0])[2].split(",")
        x = numpy.array([int(code, 16) for code in given], dtype=word).view(number)
        y = (x * number(3) - number(1)) / (x + number(0.5))
        lines = [f"x = rand({n}); (x*3 - 1) / (x + 0.5)\t{dtype}\tseed=3",
                 f"x = rand({n}); sum(x - 0.5)\t{dtype}\tseed=3",
                 f"x = rand({n}); dot(x, x*3)\t{dtype}\tseed=3"]
        with numpy.errstate(all="ignore"):
            wants = [y, numpy.add.accumulate(x - number(0.5))[-1:],
                     numpy.add.accumulate(x * (x * number(3)))[-1:]]
        for line, answer, want in zip(lines, ask(probe, lines), wants):
            codes = ",".join(f"{code:x}" for code in want.astype(number).view(word).tolist())
            tally.check(line, fields(answer)[2], codes)


def judge_composites(probe, tally):
    """mean and var of fp16 numbers with --accumulate fp32: each step is rounded to fp32, and the result once more to fp16."""
    def rounded(name, value):
        code = formats.encode(FORMATS[name], "finite" if value else "zero", value < 0, abs(value))[0]
        _, negative, magnitude = FORMATS[name].decode(code)
        return code, -magnitude if negative else magnitude

    def mean(values):
        total = Fraction(0)
        for value in values:
            total = rounded("fp32", total + value)[1]
        return rounded("fp32", total / len(values))[1]

    rng = random.Random(7)
    lines, wants = [], []
    for _ in range(40):
        texts = [f"{rng.uniform(-200, 200):.3f}" for _ in range(rng.randrange(2, 30))]
        values = [rounded("fp16", Fraction(text))[1] for text in texts]
        apart = [rounded("fp32", value - mean(values))[1] for value in values]
        squares = [rounded("fp32", one * one)[1] for one in apart]
        for name, want in (("mean", mean(values)), ("var", mean(squares))):
            lines.append(f"{name}([{', '.join(texts)}])\tfp16\taccumulate=fp32")
            wants.append(f"{rounded('fp16', want)[0]:x}")
    for line, answer, want in zip(lines, ask(probe, lines), wants):
        tally.check(line, fields(answer)[2], want)


def judge_torch(probe, tally):
    """softmax and layernorm of fp16 in fp32: torch's own exp and summation order may differ by one ulp."""
    torch, numpy = have("torch"), have("numpy")
    if not torch or not numpy:
        tally.skip("softmax, layernorm: torch is not installed")
        return
    rng = random.Random(5)
    for dtype, kind in (("fp16", torch.float16), ("bf16", torch.bfloat16)):
        for _ in range(20):
            values = [f"{rng.uniform(-8, 8):.4f}" for _ in range(32)]
            given = torch.tensor([float(v) for v in values], dtype=torch.float64).to(kind)
            for name, want in (("softmax", torch.softmax(given, 0)),
                               ("layernorm", torch.nn.functional.layer_norm(given, (32,)))):
                line = f"{name}([{', '.join(values)}])\t{dtype}\taccumulate=fp32"
                answer = fields(ask(probe, [line])[0])
                if answer[0] == "error" and ("not built in" in answer[1] or "libmpfr" in answer[1]):
                    tally.skip("softmax: " + answer[1])
                    return
                got = [int(code, 16) for code in answer[2].split(",")]
                codes = [code & 0xffff for code in want.view(torch.int16).tolist()]
                apart = max(abs(a - b) for a, b in zip(got, codes))
                tally.check(line + " is torch's within one unit", apart <= 1, True)


def main():
    probe, long = arguments()
    tally = Tally()
    judge_expressions(probe, tally, 60000 if long else 3000, 16)
    tally.part("random expressions")
    judge_lists(probe, tally)
    judge_random(probe, tally)
    tally.part("generators")
    judge_composites(probe, tally)
    judge_numpy(probe, tally)
    judge_torch(probe, tally)
    tally.finish()


if __name__ == "__main__":
    main()
