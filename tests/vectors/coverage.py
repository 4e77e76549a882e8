# SPDX-License-Identifier: MIT
"""Whether the inputs that docs/vectors.md promises are in a file: the boundaries follow from the published tables."""

import struct
from fractions import Fraction

from casting import INF, NAN, is_integer, of_code, read_input
from published import published, two_to

LETTERS = {"fp64": ("d", "Q"), "fp32": ("f", "I"), "fp16": ("e", "H")}


def float_cell(source, value):
    """The code of a value in a floating-point source, or None if the source does not have it."""
    if source == "bf16":
        code = float_cell("fp32", value)
        return None if code is None or code & 0xffff else code >> 16
    number, integer = LETTERS[source]
    try:
        code = struct.unpack(integer, struct.pack(number, float(value)))[0]
    except OverflowError:
        return None
    found = of_code(source, code)
    return code if found.kind == "finite" and Fraction(found.value) == Fraction(value) else None


def with_neighbours(source, value):
    """The codes of a tie and of the numbers next to it in the source; none if the source does not have the tie."""
    if source == "int64":
        whole = Fraction(value)
        if whole.denominator != 1 or abs(whole) >= 1 << 63:
            return []
        return [code % (1 << 64) for code in (int(whole) - 1, int(whole), int(whole) + 1)]
    code = float_cell(source, value)
    return [] if code is None else [code - 1, code, code + 1]


def ties(table):
    """Each point where rounding to nearest changes: of a narrow format all, of others those at its boundaries. Posits have
    none beyond their range, nor at zero."""
    if table.posit:
        zero = table.line.index(0)
        inner = table.halfway[:zero - 1] + table.halfway[zero + 1:]
        return inner if table.width <= 8 else inner[len(inner) // 2 - 2:len(inner) // 2 + 2]
    if table.width <= 8:
        inner = [half for half, code in zip(table.halfway, table.codes) if code != "too low"]
    else:
        one = table.line.index(1)
        normal = table.line.index(float(table.smallest_normal)) if table.smallest_normal else one
        zero = len(table.line) // 2
        inner = [table.halfway[at] for at in (zero, zero - 1, zero + 1, normal - 1, normal, one - 1, one, one + 1)]
    return inner + [table.overflow_at] + ([-table.overflow_at] if table.signed else [])


def integer_ties(table):
    """The ends of the range, the halves beyond them, and the first halves inside."""
    if table.kind == "bool":
        return []
    low, high = Fraction(table.minimum) - Fraction(1, 2), Fraction(table.maximum) + Fraction(1, 2)
    inner = [half for half in (Fraction(1, 2), Fraction(3, 2), Fraction(5, 2)) if half < high]
    return [low, high, *inner] + [Fraction(end) for end in (table.minimum, table.maximum) if end]


def missing_from_cast(file):
    """Promised inputs that a cast file does not have, in words."""
    source, target = file.pair
    table = published(target)
    there = {row["input"] for row in file.rows}
    if source == "text":
        return missing_texts(there, table)
    codes = {int(cell, 16) for cell in there}
    wanted = {}
    for value in integer_ties(table) if is_integer(table) else ties(table):
        for code in with_neighbours(source, value):
            wanted[code] = f"the tie {float(value)!r} or a neighbour of it, {code:#x}"
    missing = [text for code, text in wanted.items() if code not in codes]
    numbers = [of_code(source, code) for code in codes]
    return missing + missing_kinds(source, numbers)


def missing_kinds(source, numbers):
    if source == "int64":
        present = {number.value for number in numbers}
        return [f"the integer {value}" for value in (0, 1, -1, (1 << 63) - 1, -(1 << 63)) if value not in present]
    missing = [f"{'-' if negative else '+'}{kind}" for kind in (INF, NAN) for negative in (False, True)
               if not any(number.kind == kind and number.negative == negative for number in numbers)]
    missing += [f"{'-' if negative else '+'}0" for negative in (False, True)
                if not any(n.kind == "finite" and n.value == 0 and n.negative == negative for n in numbers)]
    nans = [number for number in numbers if number.kind == NAN and number.payload_bits]
    quiet = [number.payload >> number.payload_bits - 1 for number in nans]
    if nans or source in LETTERS or source == "bf16":
        missing += [f"a {word} NaN" for bit, word in enumerate(("signalling", "quiet")) if bit not in quiet]
        if not any(number.payload == 1 for number in nans):
            missing.append("a NaN with the lowest payload")
    return missing


def missing_texts(there, table):
    numbers = [read_input("text", text) for text in there]
    values = {Fraction(n.value) for n in numbers if n.kind == "finite"}
    points = integer_ties(table) if is_integer(table) else ties(table)
    missing = [f"the text of {float(Fraction(value))!r}" for value in points if Fraction(value) not in values]
    ordered = sorted(values)
    for value in map(Fraction, points):
        near = abs(value) * two_to(-20)
        if value and not any(0 < abs(x - value) < near for x in ordered[max(0, index_near(ordered, value) - 3):][:7]):
            missing.append(f"a text just beside {float(value)!r}")
    return missing + missing_kinds("text", numbers)


def index_near(ordered, value):
    low, high = 0, len(ordered)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if ordered[middle] < value else (low, middle)
    return low


def missing_from_decode(file):
    table = published(file.pair[0])
    codes = [int(row["code"], 16) for row in file.rows]
    wanted = [0, 1] if table.kind == "bool" else list(range(1 << table.width))
    return [] if codes == wanted else [f"{len(wanted)} codes in ascending order; there are {len(codes)}"]


def missing_from_block(file):
    blocks = [[of_code("fp32", int(cell, 16)) for cell in row["inputs"].split(" ")] for row in file.rows]
    longest = max(map(len, blocks))
    tests = {
        "a block of zeros": lambda b: all(n.kind == "finite" and n.value == 0 for n in b),
        "a block with a NaN": lambda b: any(n.kind == NAN for n in b),
        "a block with an infinity": lambda b: any(n.kind == INF for n in b),
        "a short block": lambda b: len(b) < longest,
    }
    rules = {row["rule"] for row in file.rows}
    name = file.pair[1]
    wanted = {"floor", "ceil", "rceil", "even", "rfloor"} if name.startswith("mx") else \
        {"six", "four-six", "unrounded"} if name == "nvfp4" else {"default"}
    return [text for text, test in tests.items() if not any(map(test, blocks))] + \
        [f"the rule {rule}" for rule in sorted(wanted - rules)]


def missing_from_arith(file):
    table = published(file.pair[1])
    limited = is_integer(table) or not table.nans
    outcomes = {"a special result": limited or any(row["policy"] != "any" for row in file.rows),
                "directions that differ": any(row["up"] != row["down"] for row in file.rows)}
    return [text for text, there in outcomes.items() if not there]


def missing_from_stochastic(file):
    lanes = {int(row["index"]) % 4 for row in file.rows}
    return [] if lanes == {0, 1, 2, 3} else [f"all four words of a block; there are {sorted(lanes)}"]


def missing_inputs(file):
    return {"cast": missing_from_cast, "decode": missing_from_decode, "block": missing_from_block,
            "arith": missing_from_arith, "stochastic": missing_from_stochastic}[file.kind](file)
