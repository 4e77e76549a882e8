# SPDX-License-Identifier: MIT
"""Arguments whose results are hard to round: published ones for fp64 (Lefevre and Muller, 'Worst cases for correct
rounding of the elementary functions in double precision', and those that other libraries document) and fp32. mpmath
confirms that each is hard: after the digits of the format, or one digit more, follows the listed number of equal bits.
The first 128 bits of the result are mpmath's.

Usage: test_hard_cases.py TRUTH_PROBE [--long]
"""

import struct
import sys
from fractions import Fraction

import harness

if not harness.have("mpmath"):
    print("skipped: mpmath is not installed")
    sys.exit(77)
import exact_functions  # noqa: E402

# fp64, at least 40 equal bits
WIDE = {
    "exp": """-0x1.E8BDBFCD9144Ep3 -0x1.71E0B869B5E79p2 -0x1.02393D5976769p1 -0x1.2A9CAD9998262p0 -0x1.CC37EF7DE7501p0
        -0x1.22E24FA3D5CF9p-1 -0x1.DC2B5DF1F7D3Dp-1 -0x1.290EA09E36479p-3 -0x1.A2FEFEFD580DFp-13
        -0x1.ED318EFB627EAp-27 -0x1.4BD46601AE1EFp-31 -0x1.1000000000242p-42 -0x1.8000000000012p-48
        0x1.FFFFFFFFFFFE0p-48 0x1.7FFE7FFEE0024p-32 0x1.80017FFEDFFDCp-32 0x1.9E9CBBFD6080Bp-31
        0x1.D7A7D893609E5p-26 0x1.BA07D73250DE7p-14 0x1.D77FD13D27FFFp-11 0x1.6A4D1AF9CC989p-8 0x1.ACCFBE46B4EF0p-1
        0x1.ACA7AE8DA5A7Bp0 0x1.D6336A88077AAp0 0x2.85DC78FB8928Cp0 0x1.76E7E5D7B6EACp3 0x1.A8EAD058BC6B8p3
        0x1.1D5C2DAEBE367p4 0x1.C44CE0D716A1Ap4""",
    "exp2": "0x1.0002ff1388649p+9 0x1.003b81681e9bap+9 0x1.0082ff1388649p+9 0x1.00bb81681e9bap+9",
    "log": """0x1.0000000000001p0 0x2.0012ECB039C9Cp0 0x6.46A37FD503FDCp0 0x7.78DFECC7F57Fp0 0x9.588CCF24BB9C8p0
        0xA.AF87550D97E4p0 0xC.76F2496CB039p0 0x11.1867637CBD03p0 0x13.D9D7D597A9DDp0 0x17.F3825778AAAFp0
        0x1AC.50B409C8AEEp0 0x1.DE7CD6751029Ap16""",
    "sin": """0x1.E0000000001C2p-20 0x1.598BAE9E632F6p-7 0x1.9283586503FEp-5 0x1.D7BDCD778049Fp-5
        0x1.A202B3FB84788p-4 0x1.D037CB27EE6DFp-3 0x1.D5064E6FE82C5p-3 0x1.FE767739D0F6Dp-2 0x1.D98C4C612718Dp-1
        0x1.921FB54442D18p-0 0x1.6756745770A51p+1""",
    "cos": """0x1.8000000000009p-23 0x1.8000000000024p-22 0x1.2000000000F30p-18 0x1.06B505550E6B2p-9
        0x1.97CCD3D2C438Fp-6 0x1.549EC0C0C5AFAp-5 0x1.16E534EE36580p-4 0x1.EFEEF61D39AC2p-3 0x1.FEB1F7920E248p-2
        0x1.7CB7648526F99p-1 0x1.C65A170474549p-1 0x1.6B8A6273D7C21p+0""",
    "tan": """0x1.DFFFFFFFFFF1Fp-22 0x1.67FFFFFFFA114p-18 0x1.50486B2F87014p-5 0x1.52C39EF070CADp-4
        0x1.A33F32AC5CEB5p-3 0x1.D696BFA988DB9p-2 0x1.46AC372243536p-1 0x0.A3561B9121A9Bp+0""",
}
# fp32 as codes, at least 19 equal bits
NARROW = {
    "exp": "c236bd8c",
    "log": "3f800001 4c5d65a5 65d890d3 6f31a8ec 7a17f30a 500ffb03 1b7679ff 1e88452d 5cd69e88 5ee8984e 665e7ca6 79e7ec37",
    "sin": "3fa7832a 46199998 55cafb2a 73243f06",
    "cos": "55325019 5922aa80 5aa4542c 5f18b878 6115cb11 7beef5ef",
    "log2": "3f81d0b5 3f7d57f5",
    "log1p": "3efd81ad 35c00006",
    "expm1": "3e35bec5 bdc1c6cb",
}


def hardness(text, digits):
    """How many bits after these digits are equal; the first one may differ, at a tie."""
    significand = int(text.lstrip("-").split(":")[0], 16)
    rest = format(significand, "0128b")[digits:]
    return max(len(rest[i:]) - len(rest[i:].lstrip(rest[i])) for i in (0, 1))


def number_of_hexfloat(text):
    sign = -1 if text[0] == "-" else 1
    digits, exponent = text.lstrip("-")[2:].split("p")
    whole, _, fraction = digits.partition(".")
    return sign * Fraction(int(whole + fraction, 16)) * Fraction(2) ** (int(exponent) - 4 * len(fraction))


def number_of_code(text):
    return Fraction(struct.unpack(">f", bytes.fromhex(text))[0])


def spelled(x):
    """With as few digits as possible: the probe reads 64 bits."""
    zeros = (abs(x.numerator) & -abs(x.numerator)).bit_length() - 1
    return "%s%x:%d" % ("-" if x < 0 else "", abs(x.numerator) >> zeros, zeros + 1 - x.denominator.bit_length())


def main():
    probe, _ = harness.arguments()
    tally = harness.Tally()
    for table, digits, least, number in ((WIDE, 53, 40, number_of_hexfloat), (NARROW, 24, 19, number_of_code)):
        for name, words in table.items():
            values = [number(word) for word in words.split()]
            requests = ["F %s 0 %s" % (name, spelled(x)) for x in values]
            for word, x, got in zip(words.split(), values, harness.ask(probe, requests)):
                want = exact_functions.spelled_function(name, x)
                tally.check("%s(%s)" % (name, word), got, want + " 0")
                tally.check("%s(%s) is hard: %d bits" % (name, word, hardness(want, digits)),
                            hardness(want, digits) >= least, True)
        tally.part("%d digits" % digits)
    tally.finish()


main()
