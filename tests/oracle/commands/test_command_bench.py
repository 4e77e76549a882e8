#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `dtinfo bench` reports about an earlier run, and that it stops on request. The earlier runs are the program's
own documents with times far from what any machine achieves.

usage: test_command_bench.py DTINFO
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath(sys.argv[1])
CASES = [["cast", "fp32:bf16", "--size", "64KiB"], ["dot", "--size", "1000", "--dtypes", "fp32"]]
LONGEST = 32  # seconds, until there are enough rounds for an interval on any machine
FAILURES = []


def check(holds, *words):
    if not holds:
        FAILURES.append(words)
        print("FAILED", *words)


def bench(*words):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DTINFO_")}
    done = subprocess.run([PROGRAM, "bench", words[0], "--threads", "1", *words[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment, timeout=300)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def scaled(document, factor):
    """The same run on a machine that is slower by this factor."""
    document = json.loads(json.dumps(document))
    for result in document["results"]:
        for candidate in result["candidates"]:
            for key in ("median_seconds", "low_seconds", "high_seconds", "minimum_seconds"):
                candidate[key] = candidate[key] and candidate[key] * factor
            if candidate["low_seconds"] is None:
                candidate["low_seconds"] = candidate["high_seconds"] = candidate["median_seconds"]
    return document


def write(path, *documents):
    with open(path, "w", encoding="utf-8") as file:
        for document in documents:
            file.write(json.dumps(document) + "\n")


def with_intervals(*words):
    """Doubles the time until all rows have an interval; returns the exit code and the comparison."""
    seconds = 0.5
    while True:
        code, out, err = bench(*words, "--time", str(seconds), "--json")
        check(code in (0, 1), "exit code", code, words, err)
        comparison = json.loads(out)["comparison"]
        if seconds >= LONGEST or all(row["low"] is not None for row in comparison["results"]):
            return code, comparison
        seconds *= 2


def judge_comparisons(case):
    code, out, err = bench(*case, "--time", "0.05", "--json")
    check(code == 0 and err == "", "exit code", code, err)
    document = json.loads(out)
    check(document["comparison"] is None, "a comparison with nothing", case)
    subjects = sum(not candidate.get("limit") and (case[0] != "cast" or candidate["role"] == "cast")
                   for result in document["results"] for candidate in result["candidates"])

    write("fast.json", scaled(document, 1e-6))
    code, comparison = with_intervals(*case, "--baseline", "fast.json")
    check(code == 1, "slower than the baseline, exit code", code, case)
    check(len(comparison["results"]) == subjects, "rows", len(comparison["results"]), subjects)
    check(all(row["verdict"] == "slower" and row["regression"] and row["ratio"] > 1000 and row["low"] <= row["ratio"]
              <= row["high"] for row in comparison["results"]), "verdicts", comparison)
    check(comparison["max_regression"] == 0.1 and comparison["path"] == "fast.json", "head", comparison)

    code, out, err = bench(*case, "--compare", "fast.json", "--time", "0.05", "--json")
    comparison = json.loads(out)["comparison"]
    check(code == 0 and err == "" and not any(row["regression"] for row in comparison["results"]),
          "only compared", code, comparison, err)
    check(comparison["max_regression"] is None, "no limit was given", comparison)

    write("slow.json", *[dict(scaled(document, 1e6), results=[result])
                         for result in scaled(document, 1e6)["results"]])
    code, comparison = with_intervals(*case, "--baseline", "slow.json", "--max-regression", "2.5%")
    check(code == 0, "faster than the baseline, exit code", code, case)
    check(all(row["verdict"] == "faster" for row in comparison["results"]), "verdicts", comparison)
    check(comparison["max_regression"] == 0.025, "limit", comparison)
    return document


def judge_gate_without_samples(document):
    """A baseline with one sample has no interval: nothing can be judged, and this must not pass silently."""
    case = CASES[1]
    fast = scaled(document, 1e-6)
    for candidate in fast["results"][0]["candidates"]:
        candidate["low_seconds"] = candidate["high_seconds"] = None
    write("few.json", fast)
    code, out, err = bench(*case, "--baseline", "few.json", "--time", "0.01")
    check(code == 0 and "1 of 1 results cannot be compared" in err and "--time" in err, "no interval", code, err)
    fast["results"] *= 1000
    write("many.json", fast)
    code, out, err = bench(*case, "--compare", "many.json", "--time", "0.01")
    check(code == 0 and out.count("only in the earlier run") == 21 and ": 979 more\n" in out and err == "",
          "results of a long document", code, out, err)


def judge_texts(document):
    """The output for people, and line by line."""
    case = CASES[0]
    write("fast.json", scaled(document, 1e-6))
    code, out, err = bench(*case, "--baseline", "fast.json", "--time", "0.05")
    check(code in (0, 1) and (code == 1) == ("too slow" in out) and "cast fp32 -> bf16, 65536 bytes, 1 thread" in out, "table", code, out, err)
    code, out, err = bench(*case, "--compare", "fast.json", "--time", "0.05", "--jsonl")
    lines = [json.loads(line) for line in out.splitlines()]
    code, table, err = bench("dot", "--size", "1000", "--dtypes", "fp32,fp64", "--time", "0.01")
    words = " ".join(table.split())
    check(code == 0 and words.count("314.4011442, exact to the last place of fp64") == 1
          and words.count("instead of 314.4011442: off by ") == 1, "errors in words", table)
    check(code == 0 and len(lines) == 2, "lines", out)
    check(lines[0]["comparison"] is None and lines[1]["results"] == [] and lines[1]["comparison"]["results"],
          "the last line has the comparison", lines[1])


def judge_matching(document):
    case = CASES[0]
    other = scaled(document, 1)
    other["host"] = dict(other["host"], model="MOS 6502\u001b[31m", level="scalar")
    other["results"][0]["src"] = "fp64"
    write("other.json", scaled(document, 1), other)
    code, out, err = bench(*case, "--compare", "other.json", "--time", "0.05", "--json")
    comparison = json.loads(out)["comparison"]
    check(code == 0 and comparison["before_only"] == ["cast fp64 -> bf16, 65536 bytes, 1 thread"]
          and comparison["now_only"] == [] and comparison["other_machine"], "what is in one alone", comparison)
    check("another machine, 'MOS 6502\\x1b[31m'" in err and "level 'scalar'" in err and "\x1b" not in err,
          "warnings", err)
    write("other.json", other)
    code, out, err = bench(*case, "--baseline", "other.json", "--time", "0.05", "-q")
    check(code == 3 and "have no measurement in common" in err, "nothing in common", code, err)


def judge_interrupt():
    for mode in ([], ["--json"], ["--jsonl"]):
        for case in CASES if mode == ["--json"] else [["copy", "--size", "1MiB"]]:
            process = subprocess.Popen([PROGRAM, "bench", *case, "--time", "60"] + mode, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            sent = time.monotonic()
            out, err = process.communicate(timeout=60)
            check(process.returncode == -signal.SIGINT, "interrupted", case, mode, process.returncode)
            check(time.monotonic() - sent < 10, "took its time", case, mode)
            check(err == b"" and (not mode or out == b""), "half an answer", case, mode, out, err)


def main():
    with tempfile.TemporaryDirectory(prefix="dtinfo-bench-") as folder:
        os.chdir(folder)
        documents = [judge_comparisons(case) for case in CASES]
        judge_texts(documents[0])
        judge_gate_without_samples(documents[1])
        judge_matching(documents[0])
        judge_interrupt()
    print("%d failed" % len(FAILURES) if FAILURES else "all held")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
