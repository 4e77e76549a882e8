# SPDX-License-Identifier: MIT
"""Expressions against judges that are not ours: random ones evaluated with Fractions, each step rounded by
formats.py; sums as NumPy and ml_dtypes add; softmax and layernorm as torch has them; random numbers from the
paper's generator and mpmath."""

import random
from fractions import Fraction

import formats
from arithmetic import ARITH_BY_ZERO, ARITH_INVALID, add, div, fma, mul, sqrt, sub
from formats import FORMATS, INF, INVALID, NAN, OVERFLOW, ROUNDS
from harness import Tally, arguments, ask, have
from philox import philox4x32

DTYPES = ("fp16", "bf16", "fp32", "fp64", "fp8_e4m3fn", "fp8_e5m2", "fp6_e3m2", "fp4_e2m1", "fp8_e4m3fnuz",
          "binary8p3se", "e6m9", "int8", "uint8", "int32")
ORDERS = ("sequential", "pairwise", "blocked", "kahan")
INFIX = {"+": add, "-": sub, "*": mul, "/": div}
KINDS = ("overflow", "nan", "divide_by_zero", "to_zero", "subnormal", "absorbed")
COUNTED = 6     # of the kinds; the seventh, cancellation, depends on what the engine remembers


def random_word(seed, stream, index):
    block = index // 4
    words = philox4x32((block % (1 << 32), block >> 32, stream, 0), (seed % (1 << 32), seed >> 32))
    return words[index % 4]


class Judge:
    """One expression in one dtype under one set of options."""

    def __init__(self, fmt, mode, overflow, flush, contracts, order, block, seed):
        self.fmt, self.mode, self.overflow, self.flush = fmt, mode, overflow, flush
        self.contracts, self.order, self.block, self.seed = contracts, order, block, seed
        self.step, self.random = 0, 0
        self.counts = [0] * COUNTED
        self.inexact = 0
        self.quiet = self.harmless = False

    def is_subnormal(self, number):
        if not self.fmt.is_float or number[0] != "finite":
            return False
        least = -self.fmt.bias if self.fmt.scale else 1 - self.fmt.bias
        return number[2] < formats.power_of_two(least)

    def flushed(self, number):
        return ("zero", number[1], Fraction(0)) if self.flush and self.is_subnormal(number) else number

    def round(self, result, op=None, operands=()):
        """The stored number of (class, negative, magnitude, flags)."""
        cls, negative, value, flags = result
        if negative is None:
            negative = self.mode == "down"
        mode = self.mode or ("zero" if not self.fmt.is_float else "nearest-even")
        formats.random_bits = lambda seed, index: random_word(seed, self.step, index)
        code, stored_flags = formats.encode(self.fmt, cls, negative, value or Fraction(0), mode, self.overflow,
                                            self.seed, self.random)
        self.random += 1
        stored = self.fmt.decode(code)
        changed = bool(stored_flags & formats.INEXACT)
        if self.flush and self.is_subnormal(stored):
            stored, changed = ("zero", stored[1], Fraction(0)), True
            stored = self.fmt.decode(self.fmt.sign_bit if stored[1] and self.fmt.minus_zero else 0)
        if not self.quiet:
            self.inexact += changed
            self.notice((cls, negative, value), flags, stored_flags, stored, changed, op, operands)
        return stored

    def notice(self, exact, flags, stored_flags, stored, changed, op, operands):
        invalid = stored_flags & INVALID and not stored_flags & OVERFLOW and exact[0] != NAN
        found = set()
        if flags & ARITH_INVALID or invalid:
            found.add("nan")
        if flags & ARITH_BY_ZERO:
            found.add("divide_by_zero")
        elif stored_flags & OVERFLOW:
            found.add("overflow")
        if not found and exact[0] != NAN:
            if changed and stored[0] == "zero":
                found.add("to_zero")
            elif changed and self.is_subnormal(stored):
                found.add("subnormal")
            if changed and not self.harmless and self.absorbs(stored, op, operands):
                found.add("absorbed")
        for kind in found:
            self.counts[KINDS.index(kind)] += 1

    @staticmethod
    def absorbs(stored, op, operands):
        if op not in ("+", "-", "fma") or stored[0] != "finite":
            return False
        if op == "fma":
            product = mul(operands[0], operands[1])[:3]
            return (product[0] == operands[2][0] == "finite" and stored in (product, operands[2]))
        a, b = operands
        if op == "-":
            b = (b[0], not b[1], b[2])
        return a[0] == b[0] == "finite" and stored in (a, b)

    # What is evaluated: ("number", text), ("list", [texts]), (operator, a, b), (function, a ...). A list is a
    # Python list of numbers.

    def literal(self, text):
        special = {"inf": (INF, False, None), "-inf": (INF, True, None), "nan": (NAN, False, None)}.get(text)
        if special:
            return self.round(special + (0,))
        value = Fraction(text)
        return self.round(("finite" if value else "zero", text.startswith("-"), abs(value), 0))

    def begin(self):
        self.random = 0

    def end(self, result):
        self.step += 1
        return result

    def elementwise(self, op, function, operands):
        length = max([len(x) for x in operands if isinstance(x, list)], default=None)
        self.begin()
        if length is None:
            return self.end(self.one(op, function, operands))
        return self.end([self.one(op, function, [x[i] if isinstance(x, list) else x for x in operands])
                         for i in range(length)])

    def one(self, op, function, operands):
        operands = [self.flushed(x) for x in operands]
        return self.round(function(*operands), op, operands)

    def evaluate(self, tree):
        kind = tree[0]
        if kind == "number":
            self.begin()
            return self.end(self.literal(tree[1]))
        if kind == "list":
            self.begin()
            return self.end([self.literal(text) for text in tree[1]])
        if kind in ("+", "-") and self.contracts:
            for i in (1, 2):
                if tree[i][0] == "*":
                    return self.contracted(tree, i)
        operands = [self.evaluate(x) for x in tree[1:]]
        if kind in INFIX:
            return self.elementwise(kind, INFIX[kind], operands)
        if kind in ("sum", "prod", "dot"):
            self.begin()
            return self.end(self.reduce(kind, operands))
        functions = {"sqrt": sqrt, "fma": fma, "neg": lambda a: (a[0], not a[1], a[2], 0),
                     "abs": lambda a: (a[0], False, a[2], 0), "square": lambda a: mul(a, a)}
        return self.elementwise(kind, functions[kind], operands)

    def contracted(self, tree, i):
        other = 3 - i
        if i == 1:
            a, b = self.evaluate(tree[1][1]), self.evaluate(tree[1][2])
            c = self.evaluate(tree[other])
        else:
            c = self.evaluate(tree[other])
            a, b = self.evaluate(tree[2][1]), self.evaluate(tree[2][2])

        def turn(x):
            return [turn(y) for y in x] if isinstance(x, list) else (x[0], not x[1], x[2])
        if tree[0] == "-":
            a, c = (a, turn(c)) if i == 1 else (turn(a), c)
        return self.elementwise("fma", fma, [a, b, c])

    def reduce(self, kind, operands):
        combine = "*" if kind == "prod" else "+"
        lists = [x if isinstance(x, list) else [x] for x in operands]

        def term(i):
            if kind != "dot":
                return self.flushed(lists[0][i])
            return self.one("*", mul, [x[i] for x in lists])

        def sequential(first, count):
            total = term(first)
            for i in range(first + 1, first + count):
                if self.contracts and kind == "dot":
                    total = self.one("fma", fma, [lists[0][i], lists[1][i], total])
                else:
                    total = self.one(combine, INFIX[combine], [total, term(i)])
            return total

        def pairwise(first, count):
            if count == 1:
                return term(first)
            half = 1 << (count - 1).bit_length() - 1
            return self.one(combine, INFIX[combine],
                            [pairwise(first, half), pairwise(first + half, count - half)])

        def silently(op, a, b):
            self.quiet = True
            result = self.one(op, INFIX[op], [a, b])
            self.quiet = False
            return result

        def kahan(count):
            total, correction = term(0), ("zero", False, Fraction(0))
            for i in range(1, count):
                corrected = silently("-", term(i), correction)
                self.harmless = True
                after = self.one("+", add, [total, corrected])
                self.harmless = False
                correction = silently("-", silently("-", after, total), corrected)
                total = after
            return total

        count = len(lists[0])
        if self.order == "pairwise":
            return pairwise(0, count)
        if self.order == "kahan" and kind != "prod":
            return kahan(count)
        if self.order == "blocked":
            total = None
            for first in range(0, count, self.block):
                part = sequential(first, min(self.block, count - first))
                total = part if first == 0 else self.one(combine, INFIX[combine], [total, part])
            return total
        return sequential(0, count)


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
    if kind < 6:        # a number of the format, or one beside it
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
    """A random tree; where length is not None it may be a list of so many numbers."""
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
    """Long enough that the kernels do it: chains of operations, and sums from the first to the last."""
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


def judge_torch(probe, tally):
    """softmax and layernorm of halves in fp32: torch's own exp and order of summing may cost a unit in the
    last place."""
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
                got = [int(code, 16) for code in fields(ask(probe, [line])[0])[2].split(",")]
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
    judge_numpy(probe, tally)
    judge_torch(probe, tally)
    tally.finish()


if __name__ == "__main__":
    main()
