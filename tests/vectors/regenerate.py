# SPDX-License-Identifier: MIT
"""Reads a vector file by its description in docs/vectors.md and computes every output column again from the inputs."""

from blocks import block_cells
from casting import MODES, NANS, arith_cells, cast_cells, decode_cells, integer_cells, is_integer, policies_of, \
    stochastic_cells
from published import published

VERSION = "# dtinfo vectors 1"
HEADERS = {
    "cast": ["input", "policy", *MODES],
    "decode": ["code", "class", "decimal", "hexfloat"],
    "block": ["rule", "tensor_scale", "scale", "codes", "values", "inputs"],
    "stochastic": ["seed", "index", "random", "input", "code"],
    "arith": ["policy", *MODES],        # after the operands
}
OPERANDS = {"sqrt": ["a"], "fma": ["a", "b", "c"]}      # others: a and b


class VectorFile:
    """One file: its kind and pair, and its rows as dictionaries of cells."""

    def __init__(self, text, name):
        self.name = name
        if not text.endswith("\n") or not text.isascii() or "\r" in text:
            raise ValueError(f"{name}: not lines of ASCII")
        lines = text[:-1].split("\n")
        if lines[0] != VERSION or not lines[1].startswith("# "):
            raise ValueError(f"{name}: does not begin as version 1 does: {lines[0]!r}")
        self.kind, *self.pair = lines[1][2:].split(" ")
        body = [line for line in lines if not line.startswith("#")]
        self.columns = body[0].split("\t")
        wanted = HEADERS[self.kind]
        if self.kind == "arith":
            wanted = OPERANDS.get(self.pair[0], ["a", "b"]) + wanted
        if self.columns != wanted:
            raise ValueError(f"{name}: has the columns {self.columns}")
        self.rows = []
        for line in body[1:]:
            cells = line.split("\t")
            if len(cells) != len(self.columns) or "" in cells:
                raise ValueError(f"{name}: {line!r} has other columns")
            self.rows.append(dict(zip(self.columns, cells)))


def expectations(file):
    """A function from a row to the cells that it must have, by column."""
    if file.kind == "stochastic":
        return stochastic_cells(*file.pair)
    if file.kind == "block":
        return block_cells(file.pair[1])
    if file.kind == "decode":
        table = published(file.pair[0])
        made, columns = (integer_cells if is_integer(table) else decode_cells)(file.pair[0]), HEADERS["decode"][1:]
    else:
        made, columns = {"cast": cast_cells, "arith": arith_cells}[file.kind](*file.pair), MODES

    def by_column(row):
        cells = made(row)
        return dict(zip(columns, cells)) if len(cells) == len(columns) else {"policy": cells[0]}
    return by_column


def differences(file):
    """(number of cells compared, [(row, column, got, want)])."""
    expected = expectations(file)
    cells, found = 0, []
    for row in file.rows:
        try:
            wanted = expected(row)
        except (KeyError, ValueError, AssertionError, ZeroDivisionError) as error:
            found.append((row, "line", "", f"{type(error).__name__} {error}"))
            continue
        for column, want in wanted.items():
            cells += 1
            if row[column] != want:
                found.append((row, column, row[column], want))
    return cells, found


def policy_gaps(file):
    """Inputs that do not have exactly one line for each pair of policies that a reader may choose."""
    table = published(file.pair[1])
    choices = [{"any", policy, rule} for policy in policies_of(table) for rule in NANS]
    lines = {}
    for row in file.rows:
        key = row["input"] if file.kind == "cast" else tuple(row[name] for name in "abc" if name in row)
        lines.setdefault(key, []).append(row["policy"])
    return [(key, policies) for key, policies in lines.items()
            if any(sum(policy in choice for policy in policies) != 1 for choice in choices)]
