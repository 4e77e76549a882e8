#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`devices --arch` against the reviewed list tests/data/architectures.tsv; checks that every fact has a source and
that every architecture has a fact and names that find it.

usage: test_command_architectures.py DTINFO
"""
import json
import os
import pathlib
import subprocess
import sys

PROGRAM = os.path.abspath(sys.argv[1])
REVIEWED = pathlib.Path(__file__).resolve().parents[2] / "data/architectures.tsv"
LETTERS = {"arithmetic": "a", "matrix": "m", "conversion": "c"}
# A source names its publisher or repository, and what to look for in it.
PUBLISHERS = ("PTX ISA: ", "NVIDIA ", "AMD ", "ROCm, ", "rocWMMA ", "LLVM", "Intel SDM: ", "Intel AVX10: ", "intel/llvm ",
              "Arm ARM: ", "Metal Shading Language ", "RISC-V ISA manual, ", "Cloud TPU ", "JAX, ")
failures = checks = 0


def check(good, text):
    global failures, checks
    checks += 1
    if not good:
        failures += 1
        print("FAILED " + text)


def ask(*words):
    done = subprocess.run([PROGRAM, "devices", *words, "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
    check(done.returncode == 0, "devices %s: %s" % (" ".join(words), done.stderr))
    return json.loads(done.stdout)


def reviewed():
    rows = [line.split("\t") for line in REVIEWED.read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    return {name: dict(fact.split(":") for fact in facts.split()) for name, facts in rows}


def phrase(group, members, having):
    """The phrase for the members of a group that have a dtype, by the rule in the manual."""
    if len(having) == len(members):
        return "all"
    start = members.index(having[0]) if having else 0
    generations = group in ("NVIDIA", "AMD CDNA", "AMD RDNA", "Intel Xe", "Apple", "TPU")
    if len(having) > 1 and generations and members[start:] == having:
        first = having[0]
        fresh = members[start - 1]["generation"] != first["generation"]
        return (first["generation"] if fresh else first["name"]) + " and newer"
    return ", ".join(one["name"] for one in having) or None


def main():
    wanted, found = reviewed(), ask("--arch")["architectures"]
    check([one["name"] for one in found] == list(wanted), "the architectures are not those of the list")
    for one in found:
        facts = {}
        for fact in one["facts"]:
            facts[fact["dtype"]] = facts.get(fact["dtype"], "") + LETTERS[fact["capability"]]
            check(fact["source"].startswith(PUBLISHERS), "%s: source %r" % (one["name"], fact["source"]))
        check(facts and facts == wanted.get(one["name"]), "%s: %s, reviewed %s" % (one["name"], facts,
                                                                                 wanted.get(one["name"])))
        for name in [one["name"], one["generation"], *one["other_names"]]:
            for spelled in (name, name.upper(), name.replace(" ", "-"), name.replace("_", "")):
                names = [other["name"] for other in ask("--arch", spelled)["architectures"]]
                check(one["name"] in names, "%s is not found as %r" % (one["name"], spelled))
    names = [name.lower() for one in found for name in {one["generation"], *one["other_names"]}]
    for name in {name for name in names if names.count(name) > 1}:
        among = {one["group"] for one in found if name in [n.lower() for n in (one["generation"], *one["other_names"])]}
        check(len(among) == 1, "%s is in %s" % (name, among))
    for dtype in sorted({dtype for facts in wanted.values() for dtype in facts} | {"e3m4"}):
        document = ask("--supports", dtype)
        having = [one["name"] for one in found if dtype in wanted.get(one["name"], {})]
        check([one["name"] for one in document["architectures"]] == having, "--supports " + dtype)
        for group in document["supports"][0]["groups"]:
            members = [one for one in found if one["group"] == group["group"]]
            words = phrase(group["group"], members, [one for one in members if one["name"] in having])
            check(group["architectures"] == words, "--supports %s: %s, expected %s" % (dtype, group, words))
    print("%d checks, %d failures" % (checks, failures))
    return 1 if failures or checks < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
