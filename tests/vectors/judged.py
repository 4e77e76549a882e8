# SPDX-License-Identifier: MIT
"""Compares vector files with peers line by line and sorts what differs: rounding, numbers beyond the range, NaNs."""

from casting import INF, NAN, read_input
from published import published
from regenerate import VectorFile

COLUMN = "nearest-even"


class Verdict:
    """How one peer does on one file: lines, differences of each kind, and the first example of each."""

    def __init__(self, peer, file):
        self.peer, self.pair, self.kind = peer, file.pair, file.kind
        self.lines = 0
        self.counts = {"rounding": 0, "beyond": 0, "nan": 0}
        self.totals = {"rounding": 0, "beyond": 0, "nan": 0}
        self.examples = {}

    def note(self, what, got, want, shown):
        self.lines += 1
        self.totals[what] += 1
        if got != want:
            self.counts[what] += 1
            self.examples.setdefault(what, (shown, got, want))


def chosen(file, policy, rule="quiet"):
    return [row for row in file.rows if row["policy"] in ("any", policy, rule)]


def saturated_inputs(file):
    """The inputs whose result depends on the overflow policy."""
    return {row["input"] for row in file.rows if row["policy"] not in ("any", "quiet", "canonical")}


def judge_cast(peer, file, policy):
    source, target = file.pair
    rows = [row for row in chosen(file, policy) if row[COLUMN] != "-"]
    if source == "text":
        got = peer.from_text(target, [row["input"] for row in rows])
    else:
        got = peer.cast(source, target, [int(row["input"], 16) for row in rows])
    far = saturated_inputs(file)
    verdict = Verdict(peer, file)
    for row, code in zip(rows, got):
        number = read_input(source, row["input"])
        what = "nan" if number.kind == NAN else "beyond" if number.kind == INF or row["input"] in far else "rounding"
        verdict.note(what, code, int(row[COLUMN], 16), row["input"])
    return verdict


def judge_decode(peer, file):
    table = published(file.pair[0])
    codes = [int(row["code"], 16) for row in file.rows]
    verdict = Verdict(peer, file)
    for row, code, value in zip(file.rows, codes, peer.values(file.pair[0], codes)):
        nan = table.values[code] == NAN
        same = value != value if nan else repr(value) == repr(float(row["decimal"]))
        verdict.note("nan" if nan else "rounding", same, True, row["code"])
    return verdict


def judge_arith(peer, file, policy):
    operation, name = file.pair
    rows = [row for row in chosen(file, policy) if row[COLUMN] != "-"]
    columns = [letter for letter in "abc" if letter in file.columns]
    got = peer.arithmetic(operation, name, [[int(row[letter], 16) for row in rows] for letter in columns])
    table = published(name)
    verdict = Verdict(peer, file)
    for row, code in zip(rows, got):
        want = int(row[COLUMN], 16)
        what = "beyond" if row["policy"] == policy else "nan" if want in table.nans else "rounding"
        verdict.note(what, code, want, " ".join(row[letter] for letter in columns))
    return verdict


def judge(peer, text, name, policy):
    """The verdict, or None if the peer does not have the pair."""
    file = VectorFile(text, name)
    if file.kind == "cast":
        source, target = file.pair
        known = target in peer.names and source != target
        if source == "text":
            return judge_cast(peer, file, policy) if known and hasattr(peer, "from_text") else None
        return judge_cast(peer, file, policy) if known and source in peer.sources else None
    if file.kind == "decode":
        return judge_decode(peer, file) if file.pair[0] in peer.names else None
    if file.kind == "arith" and file.pair[1] in peer.names and peer.has_arithmetic(file.pair[0]):
        try:
            return judge_arith(peer, file, policy)
        except (TypeError, RuntimeError, NotImplementedError):      # the peer has no such operation in this dtype
            return None
    return None


def policy_of(peer, target):
    """The policy that a peer follows: torch 2.13 and newer clamp to the largest number of e4m3fn, all else is native."""
    return "saturate" if peer.name == "torch" and target == "fp8_e4m3fn" else "native"


def rounds_once(peer, source, target):
    """Whether a peer's cast is documented, or seen in its source, to round once: from 32 bits and less, and from integers
    where fp32 has all those that matter. fp8_e8m0 has rules of its own in both libraries."""
    if target == "fp8_e8m0":
        return False
    return source in ("fp32", "fp16", "bf16") or source == "int64" and target != "bf16" or \
        (peer.name, source, target) == ("numpy", "fp64", "fp16")


def has_no_fault_in_rounding(verdict):
    """Whether finite numbers within the range must be equal: what rounds once, all codes' values, all operations."""
    return verdict.kind != "cast" or rounds_once(verdict.peer, *verdict.pair)
