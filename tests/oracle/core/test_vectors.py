# SPDX-License-Identifier: MIT
"""Every row of tests/data/vectors.tsv: worked examples of the specifications, not computed here.
Usage: test_vectors.py PROBE VECTORS.TSV
"""

import sys

from harness import Tally, ask

EXACT = "nearest-even native quiet 0 0"


def rows(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    header = lines[0]
    for line in lines[1:]:
        assert len(line) == len(header), line
        yield dict(zip(header, line))


def store(probe, dtype, text, policy):
    """Stores a text, or "DTYPE:CODE", in a dtype and returns the code."""
    source, colon, code = text.partition(":")
    if colon:
        request = f"convert {source} {code} {dtype} {policy}"
    else:
        request = f"encode {dtype} {policy} {text}"
    return int(ask(probe, [request])[0].split()[0], 16)


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: test_vectors.py PROBE VECTORS.TSV")
    probe = sys.argv[1]
    tally = Tally()
    for row in rows(sys.argv[2]):
        policy = f"{row['round']} {row['overflow']} quiet 0 0"
        text = row["input"]
        if row["via"] != "-":
            text = f"{row['via']}:{store(probe, row['via'], text, EXACT):#x}"
        code = store(probe, row["dtype"], text, policy)
        name = " ".join(row.values())
        if row["code"] != "-":
            tally.check(name, f"{code:#x}", f"{int(row['code'], 16):#x}")
        if row["value"] != "-":
            kind = "text" if "e" in row["value"] else "exact"
            tally.check(name, ask(probe, [f"{kind} {row['dtype']} {code:x}"])[0], row["value"])
    tally.finish()


if __name__ == "__main__":
    main()
