#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the published set of test vectors, which docs/vectors.md describes.

    tools/make-vectors.py --program build/dtinfo -o dtinfo-vectors-1.tar.xz
    tools/make-vectors.py --program build/dtinfo --folder FOLDER      the same files, not packed
    tools/make-vectors.py --program build/dtinfo --check [--every N]  compares them, or every Nth, with SHA256SUMS
    tools/make-vectors.py --program build/dtinfo --update             rewrites packaging/vectors/SHA256SUMS

`dtinfo vectors --list` says what belongs to the set. The same program makes the same bytes. The folder published/ has the
value tables of the OCP and of IEEE P3109; they are made here, from the definitions in these documents, without dtinfo.
"""

import argparse
import hashlib
import io
import lzma
import pathlib
import subprocess
import sys
import tarfile
from fractions import Fraction

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = ROOT / "packaging" / "vectors"
NAME = "dtinfo-vectors-1"
# A quarter of the time of the usual search for matches; the archive is a quarter larger.
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 1 << 25, "mf": lzma.MF_HC4, "nice_len": 32, "depth": 8}]

# OCP OFP8 1.0 (2023), table 1, and OCP Microscaling Formats 1.0 (2023), 5.3 and 5.4: exponent bits, mantissa bits, bias, and the
# codes without a sign that are not numbers.
OCP = {
    "ofp8/fp8_e5m2": (5, 2, 15, {0x7c: "inf", 0x7d: "nan", 0x7e: "nan", 0x7f: "nan"}),
    "ofp8/fp8_e4m3fn": (4, 3, 7, {0x7f: "nan"}),
    "mx/fp6_e3m2": (3, 2, 3, {}),
    "mx/fp6_e2m3": (2, 3, 1, {}),
    "mx/fp4_e2m1": (2, 1, 1, {}),
}


def hexfloat(value):
    """C99's %a with the fewest digits, of a number that is not 0."""
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    fraction, digits = size / Fraction(2) ** exponent - 1, ""
    while fraction:
        fraction *= 16
        digits += "%x" % int(fraction)
        fraction -= int(fraction)
    return "%s0x1%s%sp%+d" % ("-" if value < 0 else "", "." if digits else "", digits, exponent)


def table_line(code, width, value, least_normal):
    """value: a Fraction, or "inf", "-inf", "nan", "-0"."""
    if value in ("inf", "-inf", "nan"):
        cells = (value.lstrip("-"), value, value)
    elif value in (0, "-0"):
        cells = ("zero", str(value), "-0x0p+0" if value else "0x0p+0")
    else:
        decimal = repr(float(value))
        decimal = decimal[:-2] if decimal.endswith(".0") else decimal
        cells = ("normal" if abs(value) >= least_normal else "subnormal", decimal, hexfloat(value))
    return "0x%0*x\t%s\n" % ((width + 3) // 4, code, "\t".join(cells))


def table(source, name, width, values, least_normal):
    lines = [table_line(code, width, value, least_normal) for code, value in enumerate(values)]
    return "# dtinfo vectors 1\n# decode %s\n# published by %s\ncode\tclass\tdecimal\thexfloat\n%s" % (
        name, source, "".join(lines))


def magnitude(code, man, bias):
    exponent, mantissa = code >> man, code & (1 << man) - 1
    if exponent == 0:
        return mantissa * Fraction(2) ** (1 - bias - man)
    return (1 + Fraction(mantissa, 1 << man)) * Fraction(2) ** (exponent - bias)


def signed(values):
    opposite = {"inf": "-inf", "nan": "nan", 0: "-0"}
    return values + [opposite.get(value) or -value for value in values]


def ocp_tables():
    for path, (exp, man, bias, specials) in OCP.items():
        values = signed([specials.get(code, magnitude(code, man, bias)) for code in range(1 << exp + man)])
        source = "the OCP, %s 1.0" % ("OFP8" if "ofp8" in path else "Microscaling Formats")
        yield "ocp/" + path, table(source, path.split("/")[1], exp + man + 1, values, Fraction(2) ** (1 - bias))
    values = [Fraction(2) ** (code - 127) for code in range(255)] + ["nan"]
    yield "ocp/mx/fp8_e8m0", table("the OCP, Microscaling Formats 1.0", "fp8_e8m0", 8, values, 0)


def p3109_table(k, p, sign, domain):
    """IEEE P3109, interim report 4.0: one zero; NaN at the code of -0, or the last one; infinity below it."""
    bits = k - (sign == "s")
    bias = 1 << bits - p
    values = [magnitude(code, p - 1, bias) for code in range(1 << bits)]
    if sign == "u":
        values[-1] = "nan"
    if domain == "e":
        values[-1 if sign == "s" else -2] = "inf"
    if sign == "s":
        values = signed(values)
        values[1 << bits] = "nan"
    name = "binary%dp%d%s%s" % (k, p, sign, domain)
    return "p3109/" + name, table("the IEEE, P3109 interim report 4.0", name, k, values, Fraction(2) ** (1 - bias))


def published():
    yield from ocp_tables()
    for k in range(3, 9):
        for sign in "su":
            for p in range(1, k + (sign == "u")):
                for domain in "ef":
                    yield p3109_table(k, p, sign, domain)


def made(program, every=1):
    """Path and bytes of each file of the set, or of every Nth."""
    listed = subprocess.run([program, "vectors", "--list"], stdout=subprocess.PIPE, check=True).stdout.decode()
    for line in listed.splitlines()[::every]:
        path, words = line.split("\t")
        done = subprocess.run([program, "-q", "vectors", *words.split()], stdout=subprocess.PIPE, check=True)
        yield path, done.stdout
    for path, text in list(published())[::every]:
        yield "published/%s.tsv" % path, text.encode()


def sums(files):
    return {path: hashlib.sha256(data).hexdigest() for path, data in files}


def kept_sums():
    lines = (KEPT / "SHA256SUMS").read_text().splitlines()
    return {path: digest for digest, path in (line.split("  ") for line in lines)}


def check(program, every):
    want, got = kept_sums(), sums(made(program, every))
    for path in sorted(got):
        if got[path] != want.get(path):
            print("%s: %s" % (path, "other bytes than those of SHA256SUMS" if path in want else "not in SHA256SUMS"))
    missing = sorted(set(want) - set(got)) if every == 1 else []
    for path in missing:
        print("%s: no longer made" % path)
    print("%d files" % len(got))
    return 1 if missing or any(got[path] != want.get(path) for path in got) else 0


def all_files(program):
    files = dict(made(program))
    digests = sums(files.items())
    files["SHA256SUMS"] = "".join("%s  %s\n" % (digests[path], path) for path in sorted(digests)).encode()
    files["README.md"] = (KEPT / "README.md").read_bytes()
    files["FORMAT.md"] = (ROOT / "docs" / "vectors.md").read_bytes()
    for reader in sorted((ROOT / "docs" / "examples" / "vectors").glob("*.[cp]*")):
        files["readers/" + reader.name] = reader.read_bytes()
    return sorted(files.items())


def pack(files, path):
    with lzma.open(path, "wb", format=lzma.FORMAT_XZ, filters=FILTERS) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in files:
            entry = tarfile.TarInfo(NAME + "/" + name)
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("-o", "--output")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    if args.check:
        return check(args.program, args.every)
    files = all_files(args.program)
    if args.update:
        (KEPT / "SHA256SUMS").write_bytes(dict(files)["SHA256SUMS"])
    for name, data in files if args.folder else ():
        (args.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (args.folder / name).write_bytes(data)
    if args.output:
        pack(files, args.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
