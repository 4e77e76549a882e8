# SPDX-License-Identifier: MIT
"""Command lines of values, drawn by a seed: texts, patterns, expressions, dtypes, modes. They need no files."""

import json
import random
import subprocess

ROUNDS = ["nearest-even", "nearest-away", "zero", "up", "down", "odd", "stochastic"]
OVERFLOWS = ["native", "saturate", "saturate", "saturate-finite", "saturate-finite", "wrap"]
NANS = ["quiet", "canonical"]
WORDS = ["inf", "-inf", "nan", "-nan", "0", "-0", "1/3", "-2/7", "1e400", "1e-400", "0x1.8p-149", "-0x1p+127", "3.5.1", "abc", "1/0", "",
         "1_000", "+7", ".5", "5.", "0x", "1e", "10k"]
FUNCTIONS = ["abs", "sqrt", "floor", "ceil", "round", "neg", "relu"]


def dtypes(program):
    """The names of all dtypes, those of blocks left out."""
    done = subprocess.run([program, "list", "--json"], stdout=subprocess.PIPE, encoding="utf-8", check=True)
    return [row["dtype"] for row in json.loads(done.stdout)["dtypes"]]


class Draw:
    """Draws command lines."""

    def __init__(self, program, seed):
        self.random, self.names = random.Random(seed), dtypes(program)

    def dtype(self):
        """A dtype: usually one of the list, sometimes one of fields, a width or no dtype at all."""
        kind = self.random.random()
        if kind < 0.85:
            return self.random.choice(self.names)
        if kind < 0.95:
            return self.random.choice(["", "u"]) + f"e{self.random.randint(1, 11)}m{self.random.randint(0, 24)}" + self.random.choice(
                ["", "", "fn", "fnuz", f"b{self.random.randint(1, 40)}"])
        return self.random.choice([f"int{self.random.randint(1, 70)}", f"uint{self.random.randint(1, 70)}", "float16", "torch.bfloat16", "q8_0",
                                   "nope"])

    def decimal(self):
        """A decimal number of any length and size."""
        digits = "".join(self.random.choices("0123456789", k=self.random.choice([1, 2, 3, 5, 9, 17, 25, 60])))
        point = self.random.randint(0, len(digits))
        text = self.random.choice(["", "", "-"]) + digits[:point] + ("." + digits[point:] if point < len(digits) else "")
        return text + (f"e{self.random.randint(-60, 60)}" if self.random.random() < 0.5 else "")

    def value(self):
        """A number as text."""
        kind = self.random.random()
        if kind < 0.5:
            return self.decimal()
        if kind < 0.65:
            return str(self.random.randint(-(1 << self.random.randint(1, 80)), 1 << self.random.randint(1, 80)))
        if kind < 0.8:
            return f"{self.random.choice(['', '-'])}0x1.{self.random.getrandbits(self.random.choice([4, 12, 52])):x}p{self.random.randint(-150, 130)}"
        if kind < 0.9:
            return f"{self.random.randint(-999, 999)}/{self.random.randint(1, 999)}"
        return self.random.choice(WORDS)

    def policies(self):
        """Options of a cast."""
        out = []
        if self.random.random() < 0.5:
            out += ["--round", self.random.choice(ROUNDS)]
            if out[-1] == "stochastic":
                out += ["--seed", str(self.random.randint(0, 1 << 40))]
        if self.random.random() < 0.3:
            out += ["--overflow", self.random.choice(OVERFLOWS)]
        if self.random.random() < 0.1:
            out += ["--nan", self.random.choice(NANS)]
        return out

    def page(self):
        """Options of the answer."""
        return self.random.choice([[], [], [], ["-q"], ["--json"], ["--jsonl"], ["-v"], ["--ascii"]])

    def cast(self):
        """Casts of one or more values."""
        names = ",".join(self.dtype() for _ in range(self.random.choice([1, 1, 1, 2, 4])))
        values = [self.value() for _ in range(self.random.choice([1, 1, 1, 2]))]
        extra = self.random.choice([[], [], [], ["--stacks"], ["--digits", str(self.random.randint(1, 40))], ["--via", self.dtype()]])
        return ["cast", *values, names, *self.policies(), *extra, *self.page()]

    def bits(self):
        """Fields of a pattern or of a value."""
        what = hex(self.random.getrandbits(self.random.choice([1, 4, 6, 8, 16, 32, 64]))) if self.random.random() < 0.6 else self.value()
        return ["bits", what, self.dtype(), *self.page()]

    def limits(self):
        """Limits of dtypes."""
        return [self.random.choice(["info", "finfo", "iinfo"]), self.dtype(), *self.page()]

    def term(self, depth):
        """An expression without powers and functions that need MPFR."""
        kind = self.random.random()
        if depth == 0 or kind < 0.3:
            return self.random.choice([str(self.random.randint(0, 300)), f"{self.random.random():.4g}", "1e4", "inf"])
        if kind < 0.75:
            return f"({self.term(depth - 1)} {self.random.choice('+-*/')} {self.term(depth - 1)})"
        if kind < 0.9:
            return f"{self.random.choice(FUNCTIONS)}({self.term(depth - 1)})"
        return f"sum(repeat({self.term(depth - 1)}, {self.random.choice([1, 10, 1500])}))"

    def calc(self):
        """An expression; true values need MPFR, which the page does not have."""
        return ["calc", self.term(3), self.dtype(), "--true-value", "never", *self.random.choice(
            [[], ["-q"], ["--steps"], ["--json"], ["--round", self.random.choice(ROUNDS[:6])], ["--accumulate", "fp32"]])]

    def line(self):
        """A command line."""
        return self.random.choices([self.cast, self.bits, self.limits, self.calc], [70, 15, 5, 10])[0]()
