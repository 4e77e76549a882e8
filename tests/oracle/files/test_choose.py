#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The best choice for a size against HiGHS, a solver of mixed-integer programs, which scipy has; and the frontier
against a hull of exact fractions. Sizes and errors of every answer are added up again, exactly.

HiGHS allows a row to be off by 1e-6 or so: where its own choice exceeds the budget, only its lower bound counts."""
import fractions
import random
import struct
import subprocess
import sys
import time

import harness

numpy = harness.have("numpy")
scipy = harness.have("scipy.optimize")
MENU = [("q2_k", 84, 8e-2), ("q3_k", 110, 2.2e-2), ("q4_k", 144, 4.8e-3), ("q5_k", 176, 1.3e-3), ("q6_k", 210, 3.4e-4), ("q8_0", 272, 3e-5),
        ("bf16", 512, 2.6e-6), ("fp32", 1024, 0)]       # bytes of 256 numbers, relative squared error
TOLERANCE = 1e-6


compared = {"HiGHS within the budget": 0, "the same error": 0, "less error than HiGHS": 0}


class Probe:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, groups, budget):
        """(words of the choice, words of the frontier)"""
        starts = [0]
        for choices in groups:
            starts.append(starts[-1] + len(choices))
        text = struct.pack("=IQ%dI" % len(starts), len(groups), budget, *starts)
        text += b"".join(struct.pack("=Qd", *choice) for choices in groups for choice in choices)
        self.process.stdin.write(text)
        self.process.stdin.flush()
        return [self.process.stdout.readline().decode().split() for _ in range(2)]


def model(random_, layers, widths, noise, experts=0):
    """Groups as a transformer has them: errors grow with size, and vary."""
    hidden, inner, key_value = widths
    shapes = [hidden * (hidden + 2 * key_value), hidden * hidden] + ([2 * hidden * inner, hidden * inner] if not experts else [])
    sizes = shapes * layers + [3 * hidden * inner] * experts * layers + [32000 * hidden] * 2
    return [[(size // 256 * unit, error * size * scale * random_.lognormvariate(0, noise)) for _, unit, error in MENU]
            for size, scale in ((size, random_.lognormvariate(-8, 0.5)) for size in sizes)]


def uncorrelated(random_, most):
    return lambda: (random_.randint(1, most), random_.random())


def weakly(random_, most):
    def choice():
        size = random_.randint(1, most)
        return size, max(0.0, 1.25 * most - size + random_.uniform(-0.25, 0.25) * most)
    return choice


def strongly(random_, most):
    def choice():
        size = random_.randint(1, most)
        return size, float(most - size + most // 8)
    return choice


def ties(random_, most):
    return lambda: (random_.randint(1, 6) * most, float(random_.randint(0, 6)))


def spread(random_, most):
    """Errors of all magnitudes, and zeros."""
    return lambda: (random_.randint(1, most), random_.choice([0.0, 10.0 ** random_.uniform(-200, 200), 10.0 ** random_.uniform(-12, 0)]))


def equal(random_, most):
    return lambda: (most, random_.random())


FAMILIES = {"uncorrelated": (uncorrelated, 1000), "uncorrelated, huge": (uncorrelated, 2**45), "weakly correlated": (weakly, 1000),
            "weakly correlated, huge": (weakly, 2**45), "strongly correlated": (strongly, 1000), "ties": (ties, 1), "ties, huge": (ties, 2**45),
            "all magnitudes": (spread, 10**6), "equal sizes": (equal, 4096), "model": (None, 0)}


def instance(random_, family):
    make, most = FAMILIES[family]
    if make is None:
        groups = model(random_, random_.randint(1, 6), (4096, 11008, random_.choice([4096, 1024])), random_.choice([0, 0.1, 0.5]),
                       random_.choice([0, 0, 8]))
    else:
        choice, width = make(random_, most), random_.choice([1, 2, 3, 8, 8, 8])
        groups = [[choice() for _ in range(random_.randint(1, width))] for _ in range(random_.choice([1, 3, 10, 30, 60]))]
    least, full = sum(min(c)[0] for c in groups), sum(max(c)[0] for c in groups)
    return groups, random_.choice([least, full, random_.randint(least, max(least, full))] + [random_.randint(least, least + (full - least) // 2)] * 5)


def solve(groups, budget, seconds=60):
    """(picks or None, lower bound) by HiGHS."""
    flat = [choice for choices in groups for choice in choices]
    largest = max(error for _, error in flat) or 1.0
    least = sum(min(c)[0] for c in groups)
    weights = [size - min(c)[0] for c in groups for size, _ in c]
    scale = max(1, budget - least, max(weights)) / 1e4
    one = scipy.sparse.lil_matrix((len(groups) + 1, len(flat)))
    column = 0
    for row, choices in enumerate(groups):
        one[row, column:column + len(choices)] = 1
        column += len(choices)
    one[len(groups), :] = numpy.array([w / scale for w in weights])
    upper = [1.0] * len(groups) + [(budget - least) / scale]
    found = scipy.optimize.milp(numpy.array([error / largest for _, error in flat]), integrality=numpy.ones(len(flat)), bounds=(0, 1),
                                constraints=scipy.optimize.LinearConstraint(one.tocsr(), [1.0] * len(groups) + [-numpy.inf], upper),
                                options={"mip_rel_gap": 0, "time_limit": seconds})
    if found.x is None:
        return None, 0.0
    picks, column = [], 0
    for choices in groups:
        picks.append(column + int(numpy.argmax(found.x[column:column + len(choices)])))
        column += len(choices)
    return picks, (found.mip_dual_bound or 0.0) * largest


def add_up(flat, picks):
    return sum(flat[p][0] for p in picks), sum(fractions.Fraction(flat[p][1]) for p in picks)


def judge_choice(tally, name, groups, budget, words):
    """Compares an answer with HiGHS's. Whether it is proved."""
    flat = [choice for choices in groups for choice in choices]
    picks = [int(word) for word in words[7:]]
    size, error = int(words[1]), float.fromhex(words[2])
    owners = [g for g, choices in enumerate(groups) for _ in choices]
    tally.check(name + " one a group", [owners[p] for p in picks], list(range(len(groups))))
    got_size, got_error = add_up(flat, picks)
    tally.check(name + " size", size, got_size)
    tally.check(name + " within the budget", size <= budget, True)
    tally.check(name + " error", error, float(got_error))
    bound = float.fromhex(words[3])
    tally.check(name + " bound", bound <= error and (words[4] == "0" or bound == error), True)
    picks, least = solve(groups, budget)
    if picks is None:
        tally.skip(name + ": no answer of HiGHS")
        return words[4] == "1"
    their_size, theirs = add_up(flat, picks)
    largest = max(e for _, e in flat)
    if their_size <= budget:
        units = len(groups) * fractions.Fraction(max(error, 5e-324)) / 2**59
        if words[4] == "1" and got_error > theirs + units:
            tally.differ(name + ": HiGHS has less error", float(got_error), float(theirs))
        compared["HiGHS within the budget"] += 1
        compared["the same error"] += got_error == theirs
        compared["less error than HiGHS"] += got_error < theirs
        tally.check(name + " bound is one", fractions.Fraction(bound) <= theirs + units + fractions.Fraction(bound) / 2**53, True)
    tally.check(name + " bound of HiGHS", error >= least - TOLERANCE * max(largest, least), True)
    return words[4] == "1"


def hull(groups):
    """The frontier by exact fractions: [(size, error)], without points inside an edge."""
    steps = []
    size, error = 0, fractions.Fraction(0)
    for choices in groups:
        points = sorted((s, fractions.Fraction(e)) for s, e in choices)
        kept = []
        for point in points:
            if kept and point[1] >= kept[-1][1]:
                continue
            while len(kept) > 1 and (kept[-2][1] - kept[-1][1]) * (point[0] - kept[-1][0]) <= (kept[-1][1] - point[1]) * (kept[-1][0] - kept[-2][0]):
                kept.pop()
            kept.append(point)
        size, error = size + kept[0][0], error + kept[0][1]
        steps += [((a[1] - b[1]) / (b[0] - a[0]), b[0] - a[0], a[1] - b[1]) for a, b in zip(kept, kept[1:])]
    found = [(size, error)]
    for _, run, rise in sorted(steps, reverse=True):
        size, error = size + run, error - rise
        found.append((size, error))
    return found


def judge_frontier(tally, name, groups, words):
    flat = [choice for choices in groups for choice in choices]
    owners = [g for g, choices in enumerate(groups) for _ in choices]
    want, at = hull(groups), 0
    rows = [words[1 + 4 * i:5 + 4 * i] for i in range(int(words[0]))]
    tally.check(name + " points", len(rows) >= 1 and len(rows) * 4 + 1 == len(words), True)
    chosen = [min((s, e) for s, e in choices) for choices in groups]
    last = -1
    for i, (size, error, group, choice) in enumerate(rows):
        if i:
            tally.check(name + " owner", owners[int(choice)], int(group))
            chosen[int(group)] = flat[int(choice)]
        exact = sum(fractions.Fraction(e) for _, e in chosen)
        if not (int(size) == sum(s for s, _ in chosen) and float.fromhex(error) == float(exact) and int(size) > last):
            tally.differ(name + " point", (size, error), (sum(s for s, _ in chosen), float(exact).hex()))
        last = int(size)
        while at + 1 < len(want) and want[at + 1][0] <= last:
            at += 1
        edge = want[at][1]
        if want[at][0] < last:
            a, b = want[at], want[at + 1]
            edge = a[1] + (b[1] - a[1]) * (last - a[0]) / (b[0] - a[0])
        tally.check(name + " on the hull", abs(exact - edge) <= want[0][1] * fractions.Fraction(1, 2**45), True)
    tally.check(name + " ends", (int(rows[0][0]), int(rows[-1][0])), (want[0][0], want[-1][0]))


def edges(tally, probe):
    """What needs no solver."""
    groups = [[(10, 3.0), (20, 1.0)], [(5, 0.0)], [(7, 2.0), (7, 1.0), (9, 0.0), (9, 4.0)]]
    tally.check("too small", probe.ask(groups, 21)[0][:2], ["no", "22"])
    tally.check("budget 0", probe.ask(groups, 0)[0][:2], ["no", "22"])
    for budget, picks, size in ((22, "0 2 4", "22"), (24, "0 2 5", "24"), (31, "0 2 5", "24"), (32, "1 2 4", "32"), (2**64 - 1, "1 2 5", "34")):
        words = probe.ask(groups, budget)[0]
        tally.check("budget %d" % budget, (" ".join(words[7:]), words[1], words[4]), (picks, size, "1"))
    tally.check("no groups", probe.ask([], 0)[0][:5], ["picks", "0", "0x0p+0", "0x0p+0", "1"])
    tally.check("no bytes", probe.ask([[(0, 1.0), (0, 0.5)]], 0)[0][1:3], ["0", "0x1p-1"])
    for bad in ([(1, -1.0)], [(1, float("nan"))], [(1, float("inf"))], [], [(2**63, 0.0)]):
        for words in probe.ask([[(1, 1.0)], bad], 10):
            tally.check("bad group %s" % bad, words[0], "error")
    tally.check("bad sizes", probe.ask([[(2**62, 1.0)], [(2**62, 0.0)]], 10)[0][0], "error")
    tally.check("bad errors", probe.ask([[(1, 1.7e308)], [(1, 1.7e308)]], 10)[0][0], "error")


def large(tally, probe, name, groups, share, solver):
    """One large instance: time and memory, and HiGHS for as long as it takes."""
    least, full = sum(min(c)[0] for c in groups), sum(max(c)[0] for c in groups)
    budget = least + int((full - least) * share)
    start = time.time()
    words, points = probe.ask(groups, budget)
    print("%s: %d groups, %.3f s, %d MiB at most, %s; frontier of %s points; %.1f s with the pipe"
          % (name, len(groups), float(words[5]), int(words[6]) / 1024, "proved" if words[4] == "1" else
             "gap %.2e" % (1 - float.fromhex(words[3]) / float.fromhex(words[2])), points[0], time.time() - start))
    if solver:
        start = time.time()
        judge_choice(tally, name, groups, budget, words)
        print("    HiGHS: %.1f s" % (time.time() - start))
    tally.check(name + " is proved", words[4], "1")


def hard(tally, probe, random_, number):
    """Errors are what sizes save, and sizes have 45 bits: the search has to stop, and its bound must hold."""
    choice = strongly(random_, 2**45)
    groups = [[choice() for _ in range(8)] for _ in range(random_.choice([12, 40, 200]))]
    least, full = sum(min(c)[0] for c in groups), sum(max(c)[0] for c in groups)
    budget = random_.randint(least, full)
    words = probe.ask(groups, budget)[0]
    error, bound = (fractions.Fraction(float.fromhex(word)) for word in words[2:4])
    # no choice can save more than the budget
    top = sum(fractions.Fraction(c[0][1]) + c[0][0] for c in groups)
    name = "hard %d of %d groups" % (number, len(groups))
    tally.check(name, (int(words[1]) <= budget, error == top - int(words[1]), bound <= error, bound >= (top - budget) * (1 - TOLERANCE)),
                (True,) * 4)
    if scipy:
        picks, _ = solve(groups, budget, 2)
        if picks and add_up([c for many in groups for c in many], picks)[0] <= budget:
            tally.check(name + " bound", bound <= add_up([c for many in groups for c in many], picks)[1], True)
    print("%s: %.2f s, gap %.1e" % (name, float(words[5]), 1 - bound / error))


def main():
    path, long = harness.arguments()
    tally, probe = harness.Tally(), Probe(path)
    edges(tally, probe)
    if not scipy:
        tally.skip("scipy is not installed: nothing is compared with HiGHS")
    random_ = random.Random(37)
    count = 1000 if long else 60 if harness.QUICK else 200
    proved, slowest = {}, 0
    for i in range(count):
        family = list(FAMILIES)[i % len(FAMILIES)]
        groups, budget = instance(random_, family)
        words, points = probe.ask(groups, budget)
        name = "instance %d (%s)" % (i, family)
        if words[0] != "picks":
            tally.differ(name, words, "picks")
            continue
        judge_frontier(tally, name, groups, points)
        if scipy:
            proved.setdefault(family, []).append(judge_choice(tally, name, groups, budget, words))
        slowest = max(slowest, float(words[5]))
    for family, flags in proved.items():
        tally.check(family + ": all proved", sum(flags), len(flags))
        print("%s: %d of %d proved" % (family, sum(flags), len(flags)))
    print(", ".join("%s: %d" % pair for pair in compared.items()))
    print("the slowest took %.3f s" % slowest)
    for i in range(20 if long else 2):
        hard(tally, probe, random_, i)
    for share in (0.05, 0.12, 0.3):
        large(tally, probe, "7B, %g" % share, model(random_, 32, (4096, 11008, 4096), 0.2), share, scipy and long)
    if long:
        large(tally, probe, "experts", model(random_, 60, (4096, 1536, 512), 0.2, 1000), 0.12, False)
    tally.finish()


if __name__ == "__main__":
    main()
