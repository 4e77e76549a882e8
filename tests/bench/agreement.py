#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks whether two runs of the same benchmark agree within their own intervals. Each subject is measured
in pairs of separate processes, --tries times. This is a benchmark, not a test: it needs a quiet machine and
takes minutes.

usage: agreement.py DTINFO [--tries N] [--time SECONDS] [--only WORD]
"""
import argparse
import json
import subprocess
import sys

SUBJECTS = [["cast", "fp32:bf16,fp32:fp8_e4m3fn", "--size", "64KiB,16MiB"],
            ["expsin", "--size", "2000x2000"],
            ["dot", "--size", "1000,4000000"],
            ["matmul", "--size", "1000"],
            ["copy", "--size", "1MiB,64MiB"]]
WANTED = 0.9


def measure(program, words, seconds):
    done = subprocess.run([program, "bench"] + words + ["--time", seconds, "--json"], check=True,
                          stdout=subprocess.PIPE)
    figures = {}
    for result in json.loads(done.stdout)["results"]:
        size = [result.get(key) for key in ("src", "dst", "src_bytes", "size_bytes", "elements", "m", "n", "k")]
        for candidate in result["candidates"]:
            if candidate.get("limit") or candidate["role"] in ("copy", "shape") and "src" in result:
                continue
            key = tuple(map(str, size + [result["place"], result["threads"], candidate["role"],
                                         candidate.get("dtype"), candidate.get("engine"), candidate["kernel"]]))
            figures[key] = candidate
    return figures


def agrees(one, two):
    """Whether the intervals overlap; None if one is missing."""
    if one["low_seconds"] is None or two["low_seconds"] is None:
        return None
    return one["low_seconds"] <= two["high_seconds"] and two["low_seconds"] <= one["high_seconds"]


def width(one):
    return (one["high_seconds"] - one["low_seconds"]) / 2 / one["median_seconds"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--tries", type=int, default=10)
    parser.add_argument("--time", default="5")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    good = True
    for words in SUBJECTS:
        if arguments.only not in words[0]:
            continue
        counts, unknown, whole, widths, apart = {}, 0, 0, [], []
        for _ in range(arguments.tries):
            first, second = (measure(arguments.program, words, arguments.time) for _ in range(2))
            verdicts = {key: agrees(first[key], second[key]) for key in first if key in second}
            unknown += sum(verdict is None for verdict in verdicts.values())
            whole += all(verdict is not False for verdict in verdicts.values())
            for key, verdict in verdicts.items():
                if verdict is None:
                    continue
                counts.setdefault(key, []).append(verdict)
                widths += [width(first[key]), width(second[key])]
                apart.append(abs(second[key]["median_seconds"] / first[key]["median_seconds"] - 1))
        judged = [verdict for verdicts in counts.values() for verdict in verdicts]
        share = sum(judged) / len(judged) if judged else 0
        worst = min(counts, key=lambda key: sum(counts[key]) / len(counts[key])) if counts else ()
        widths.sort()
        apart.sort()
        print("%-7s %5.1f %% of %d pairs of figures agree; all of a try in %d of %d; half width %.2f %%, apart %.2f %% "
              "(medians); %d without an interval"
              % (words[0], 100 * share, len(judged), whole, arguments.tries,
                 100 * widths[len(widths) // 2] if widths else 0, 100 * apart[len(apart) // 2] if apart else 0,
                 unknown))
        if worst:
            print("        worst: %s, %d of %d" % (" ".join(word for word in worst if word != "None"),
                                                   sum(counts[worst]), len(counts[worst])))
        good = good and share >= WANTED
        sys.stdout.flush()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
