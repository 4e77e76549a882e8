#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates src/kernels/math/expsin_coefficients.h: the constants of the kernels of exp(sin x).

    tools/expsin_coefficients.py [--check FILE]

Prints the header; --check compares it with FILE instead and prints the first difference (exit 1; 77
without mpmath). Polynomials are minimax approximations, found by the Remez exchange algorithm on a grid,
in 40 digits. Coefficients are rounded to the machine type one at a time, the most important first. After
each, the remaining ones are refitted, so that they compensate for the rounding errors so far.
"""
import argparse
import sys

try:
    import mpmath as mp
except ImportError:
    print("skipped: mpmath is missing")
    sys.exit(77)

mp.mp.dps = 40
SINGLE, DOUBLE = 24, 53
TABLE, TABLE_DEGREE = 32, 5
INVERSE_PI_WORDS = 20


def rounded(number, bits):
    """Rounds to nearest with a significand of `bits` bits."""
    with mp.workprec(bits):
        return +number


def solve(columns, targets, reference):
    """Returns coefficients whose error equioscillates over the reference points, and the size of that error."""
    n = len(reference) - 1
    matrix, right = mp.matrix(n + 1, n + 1), mp.matrix(n + 1, 1)
    for row, at in enumerate(reference):
        for column in range(n):
            matrix[row, column] = columns[at][column]
        matrix[row, n] = (-1) ** row
        right[row] = targets[at]
    solution = mp.lu_solve(matrix, right)
    return list(solution[:n]), abs(solution[n])


def extremes(errors, count):
    """Returns the positions of `count` extremes that alternate in sign, or None if there are fewer."""
    runs = []
    for at, error in enumerate(errors):
        if runs and (errors[runs[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[runs[-1]]):
                runs[-1] = at
        else:
            runs.append(at)
    while len(runs) > count:
        if len(runs) == count + 1:
            runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
        else:
            size = [max(abs(errors[a]), abs(errors[b])) for a, b in zip(runs, runs[1:])]
            weakest = size.index(min(size))
            del runs[weakest:weakest + 2]
    return runs if len(runs) == count else None


def minimax(function, weight, powers, low, high, grid):
    """Returns coefficients of those powers that minimize the largest error / weight, and that error."""
    middle, half = (low + high) / 2, (high - low) / 2
    points = [middle - half * mp.cos(mp.pi * (i + mp.mpf(0.5)) / grid) for i in range(grid)]
    columns = [[x ** p / weight(x) for p in powers] for x in points]
    targets = [function(x) / weight(x) for x in points]
    reference = [(grid - 1) * i // len(powers) for i in range(len(powers) + 1)]
    best = None
    for _ in range(30):
        found, level = solve(columns, targets, reference)
        errors = [want - mp.fdot(found, row) for want, row in zip(targets, columns)]
        largest = max(map(abs, errors))
        if best is None or largest < best[1]:
            best = found, largest
        reference = extremes(errors, len(powers) + 1)
        if reference is None or largest < level * mp.mpf("1.002"):
            break
    return best


def fit(function, weight, powers, low, high, bits, grid=300):
    """minimax() with coefficients rounded to `bits` bits, one after another."""
    chosen = {}
    for power in powers:
        rest = [p for p in powers if p not in chosen]

        def left(x):
            return function(x) - sum(c * x ** p for p, c in chosen.items())

        found, _ = minimax(left, weight, rest, low, high, grid)
        chosen[power] = rounded(found[0], bits)
    return [chosen[p] for p in powers]


def hexadecimal(number, suffix):
    """Formats a number exactly, as a C hexadecimal literal."""
    if number == 0:
        return "0.0" + suffix
    sign = "-" if number < 0 else ""
    significand, exponent = mp.frexp(abs(number))
    digits = int(significand * 2 ** 53)
    while digits % 2 == 0:
        digits //= 2
    point = digits.bit_length() - 1
    fraction = (digits << (-point % 4)) & ((1 << (point + -point % 4)) - 1)
    text = "%0*x" % ((point + 3) // 4, fraction) if point else "0"
    return "%s0x1.%sp%+d%s" % (sign, text, exponent - 1, suffix)


def spell(name, comment, numbers, suffix, lines):
    """Writes a macro that is an initialiser."""
    lines.append("/* %s */" % comment)
    text = [hexadecimal(n, suffix) for n in numbers]
    wrap("#define %s {" % name, text, "}", lines)


def spell_steps(name, comment, numbers, suffix, lines):
    """Writes a macro that lists the coefficients in the order of Horner's scheme."""
    lines.append("/* %s */" % comment)
    text = ["first(%s)" % hexadecimal(numbers[-1], suffix)]
    text += ["next(%s)" % hexadecimal(n, suffix) for n in reversed(numbers[:-1])]
    wrap("#define %s(first, next)" % name, text, "", lines, " ")


def wrap(start, words, end, lines, between=", "):
    """Writes words with separators in continued lines of at most 100 columns."""
    rows, row = [start], "        "
    for place, word in enumerate(words):
        word += between if place + 1 < len(words) else end
        if len(row) + len(word) > 97:
            rows.append(row.rstrip())
            row = "        "
        row += word
    rows.append(row)
    lines.extend(line + " \\" for line in rows[:-1])
    lines.append(rows[-1])
    lines.append("")


def constants(lines):
    pi = mp.pi
    inverse = rounded(1 / pi, SINGLE)
    high = rounded(pi, SINGLE)
    spell("DTI_EXPSIN_PI_F32", "fp32: 1/pi, and pi in two parts.",
          [inverse, high, rounded(pi - high, SINGLE)], "f", lines)
    step = pi / (TABLE // 2)
    high = rounded(step, SINGLE)
    spell("DTI_EXPSIN_STEP_F32", "The same of a sixteenth of pi, the step of the table.",
          [rounded(1 / step, SINGLE), high, rounded(step - high, SINGLE)], "f", lines)
    high = rounded(pi, DOUBLE)
    spell("DTI_EXPSIN_PI_F64", "fp64: 1/pi, and pi in two parts.",
          [rounded(1 / pi, DOUBLE), high, rounded(pi - high, DOUBLE)], "", lines)
    parts, left = [], pi
    for bits in (33, 33, DOUBLE):
        parts.append(rounded(left, bits))
        left -= parts[-1]
    spell("DTI_EXPSIN_PI_PARTS_F64",
          "pi in parts of 33, 33 and 53 bits: the first two times 20 bits are exact.", parts, "",
          lines)
    with mp.workprec(64 * INVERSE_PI_WORDS + 128):
        digits = int(mp.floor(mp.ldexp(1 / mp.pi, 64 * INVERSE_PI_WORDS)))
    words = [digits >> 64 * (INVERSE_PI_WORDS - 1 - i) & (1 << 64) - 1
             for i in range(INVERSE_PI_WORDS)]
    lines.append("/* 1/pi in binary, from 2^-1 down. */")
    wrap("#define DTI_EXPSIN_INVERSE_PI {", ["UINT64_C(0x%016x)" % w for w in words], "}", lines)


def sines(lines):
    """sin r = r + r^3 P(r^2). The absolute error is minimized, since exp turns it into a relative one."""
    for name, bits, reach, powers in (("F32", SINGLE, mp.mpf("1.62"), range(3, 10, 2)),
                                      ("F64", DOUBLE, mp.mpf("1.571"), range(3, 18, 2))):
        found = fit(lambda x: mp.sin(x) - x, lambda x: mp.mpf(1), list(powers), mp.mpf(2) ** -8,
                    reach, bits)
        spell_steps("DTI_EXPSIN_SINE_" + name,
                    "sin r = r + r^3 P(r^2) for r up to %s: P." % mp.nstr(reach, 4), found,
                    "f" if bits == SINGLE else "", lines)


def exponentials(lines):
    """exp s = 1 + s + s^2 P(s)."""
    for name, bits, degree in (("F32", SINGLE, 9), ("F64", DOUBLE, 16)):
        found = fit(lambda s: mp.exp(s) - 1 - s, mp.exp, list(range(2, degree + 1)),
                    mp.mpf("-1.0000001"), mp.mpf("1.0000001"), bits)
        spell_steps("DTI_EXPSIN_EXP_" + name, "exp s = 1 + s + s^2 P(s) for s up to 1: P.", found,
                    "f" if bits == SINGLE else "", lines)


def table(lines):
    """exp(sin(x0 + r)) by powers of r, for the 32 points x0 of a period. Coefficients that are zero by
    symmetry are set to zero: a fit would leave some subnormals there, which cost some processors 100 cycles."""
    reach = mp.pi / TABLE * mp.mpf("1.05")
    rows = []
    for place in range(TABLE):
        start = 2 * mp.pi * place / TABLE

        def value(x):
            return mp.exp(mp.sin(start + x))

        even = place % (TABLE // 2) == TABLE // 4  # at the maximum and the minimum of the sine
        powers = range(0, TABLE_DEGREE + 1, 2 if even else 1)
        found, _ = minimax(value, value, list(powers), mp.mpf(0) if even else -reach, reach, 80)
        row = [mp.mpf(0)] * (TABLE_DEGREE + 1)
        for power, coefficient in zip(powers, found):
            row[power] = rounded(coefficient, SINGLE)
        rows.append(row)
    lines.append("/* exp(sin(pi j / 16 + r)) by powers of r, the lowest first: %d for each power. */"
                 % TABLE)
    words = []
    for power in range(TABLE_DEGREE + 1):
        row = [hexadecimal(rows[j][power], "f") for j in range(TABLE)]
        row[0], row[-1] = "{" + row[0], row[-1] + "}"
        words += row
    wrap("#define DTI_EXPSIN_TABLE_F32 {", words, "}", lines)


def header():
    lines = ["/* SPDX-License-Identifier: MIT", " *",
             " * Made by tools/expsin_coefficients.py: constants of exp(sin x). */",
             "#ifndef KERNELS_MATH_EXPSIN_COEFFICIENTS_H",
             "#define KERNELS_MATH_EXPSIN_COEFFICIENTS_H", "", "/* clang-format off */"]
    constants(lines)
    sines(lines)
    exponentials(lines)
    lines += ["enum { DTI_EXPSIN_TABLE = %d, DTI_EXPSIN_TABLE_DEGREE = %d };" %
              (TABLE, TABLE_DEGREE), ""]
    table(lines)
    lines[-1] = "/* clang-format on */"
    return "\n".join(lines + ["", "#endif"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description="constants of exp(sin x)")
    parser.add_argument("--check", metavar="FILE")
    options = parser.parse_args()
    text = header()
    if not options.check:
        sys.stdout.write(text)
        return 0
    with open(options.check, encoding="utf-8") as stored:
        there = stored.read()
    if there == text:
        print("the same")
        return 0
    for number, (a, b) in enumerate(zip(there.splitlines(), text.splitlines()), 1):
        if a != b:
            print("line %d\n    got  %s\n    want %s" % (number, a, b))
            break
    return 1


if __name__ == "__main__":
    sys.exit(main())
