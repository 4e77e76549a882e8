#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`finfo --json` against the specifications.

    test_finfo.py PROGRAM limits.tsv

Every cell of limits.tsv is compared with the program's answer, and the twin members of every number with each other:
exact, hexfloat and value must be the same number, and text must be what Python reads as that number.
"""
import json
import re
import subprocess
import sys
from fractions import Fraction

NUMBERS = {
    "max": "max", "lowest": "lowest", "smallest_normal": "smallest_normal",
    "smallest_subnormal": "smallest_subnormal", "smallest_normal_text": "smallest_normal",
    "smallest_subnormal_text": "smallest_subnormal", "eps": "eps", "epsneg": "epsneg",
    "step_at_max": "step_at_max", "overflow": "overflow_from", "to_zero": "to_zero_up_to",
}
INTEGERS = {
    "bits": "bits", "sign": "sign_bits", "exp": "exponent_bits", "man": "mantissa_bits",
    "bias": "bias", "inf_codes": "inf_codes", "nan_codes": "nan_codes", "p": "precision",
    "integers": "integers_exact_up_to", "digits10": "digits10", "max_digits10": "max_digits10",
    "machep": "machep", "negep": "negep", "minexp": "minexp", "maxexp": "maxexp",
}
failures = 0


def check(ok, *what):
    global failures
    if not ok:
        failures += 1
        print(*what)


def read_table(path):
    with open(path, encoding="ascii") as table:
        lines = [line.rstrip("\n").split("\t") for line in table if not line.startswith("#")]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


def number(text):
    """The double that a cell denotes: "2^-126", "0x1.ffp127" or a decimal."""
    power = re.fullmatch(r"2\^(-?\d+)", text)
    if power:
        return Fraction(2) ** int(power.group(1))
    return Fraction(float.fromhex(text) if text.startswith("0x") else float(text))


def check_twins(where, twins, code_width):
    exact = Fraction(twins["exact"])
    check(set(twins) == {"value", "text", "shortest", "exact", "hexfloat", "bits"}, where, twins)
    if twins["hexfloat"] is not None:
        mantissa, exponent = re.fullmatch(r"(-?0x[0-9a-f.]+)p([+-]\d+)", twins["hexfloat"]).groups()
        whole, _, part = mantissa.partition(".")
        value = Fraction(int(whole + part, 16), 16 ** len(part)) * Fraction(2) ** int(exponent)
        check(value == exact, where, "hexfloat", twins)
    if twins["value"] is not None:
        check(Fraction(float(twins["text"])) == Fraction(float(exact)), where, "text", twins)
        check(twins["value"] == float(exact), where, "value", twins)
    if twins["bits"] is not None:
        check(len(twins["bits"]) == 2 + (code_width + 3) // 4, where, "bits", twins)


def main():
    program, table = sys.argv[1:]
    rows = read_table(table)
    check(len(rows) == 44, "rows in the table:", len(rows))
    done = subprocess.run([program, "finfo", "--json"] + [row["dtype"] for row in rows],
                          capture_output=True, check=True)
    answer = json.loads(done.stdout)
    check(answer["schema"] == "dtinfo.finfo/1", answer["schema"])
    cells = 0
    for row, got in zip(rows, answer["results"]):
        dtype = row["dtype"]
        check(got["dtype"] == dtype, dtype, got["dtype"])
        for column, want in row.items():
            where = "%s %s: wanted %s," % (dtype, column, want)
            if want == "-":
                continue
            cells += 1
            if column in INTEGERS:
                check(got[INTEGERS[column]] == (None if want == "none" else int(want)), where,
                      got[INTEGERS[column]])
            elif column in NUMBERS and want == "none":
                check(got[NUMBERS[column]] is None, where, got[NUMBERS[column]])
            elif column in NUMBERS:
                twins = got[NUMBERS[column]]
                check(Fraction(float(Fraction(twins["exact"]))) == number(want), where, twins)
                check_twins(where, twins, int(row["bits"]))
        check(got["max"]["bits"] == row["max_code"], dtype, "max code", got["max"])
        check(got["has_inf"] == (row["inf"] != "none"), dtype, "has_inf")
        check(got["has_nan"] == (row["nan_codes"] != "0"), dtype, "has_nan")
        check(got["has_minus_zero"] == (row["minus_zero"] != "none"), dtype, "has_minus_zero")
        check(got["has_subnormals"] == (row["smallest_subnormal"] != "none"), dtype, "subnormals")
        check(got["inf_codes"] + got["nan_codes"] + got["finite_codes"] == 2 ** int(row["bits"]),
              dtype, "codes do not add up")
        if row["nan"] != "-":
            check(got["nan_bits"] == (None if row["nan"] == "none" else row["nan"]), dtype, "nan")
        if row["overflow_inclusive"] != "-":
            check(got["overflow_inclusive"] == (row["overflow_inclusive"] == "yes"), dtype,
                  "overflow_inclusive")
    print("%d cells compared, %d wrong" % (cells, failures))
    return 1 if failures or cells < 900 else 0


if __name__ == "__main__":
    sys.exit(main())
