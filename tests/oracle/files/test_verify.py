#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""explain and verify of faulty files: single flipped bits must be found at their place, in small tensors and in those
compared in chunks. Also checks attestations of verify against the schema in the in-toto and SLSA specifications.

usage: test_verify.py DTINFO
"""
import hashlib
import json
import os
import random
import sys
import tempfile

from harness import have
from explain_files import QUICK, TALLY, expect, explain, load_file, made, numbers, run, save_file


# Statement v1 of the in-toto attestation framework with Provenance v1 of SLSA, from their specifications.
DESCRIPTOR = {"type": "object", "anyOf": [{"required": ["name"]}, {"required": ["uri"]}, {"required": ["digest"]}],
              "properties": {"name": {"type": "string", "minLength": 1}, "uri": {"type": "string", "format": "uri"},
                             "digest": {"type": "object", "minProperties": 1, "properties": {
                                 "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"}}}}}
URI = {"type": "string", "pattern": "^[a-z][a-z0-9+.-]*:[^ ]+$"}
STATEMENT = {
    "type": "object", "required": ["_type", "subject", "predicateType"], "additionalProperties": False,
    "properties": {
        "_type": {"const": "https://in-toto.io/Statement/v1"},
        "subject": {"type": "array", "minItems": 1, "items": {"allOf": [DESCRIPTOR, {"required": ["digest"]}]}},
        "predicateType": {"const": "https://slsa.dev/provenance/v1"},
        "predicate": {
            "type": "object", "required": ["buildDefinition", "runDetails"], "additionalProperties": False,
            "properties": {
                "buildDefinition": {
                    "type": "object", "required": ["buildType", "externalParameters"], "additionalProperties": False,
                    "properties": {"buildType": URI, "externalParameters": {"type": "object"},
                                   "internalParameters": {"type": "object"},
                                   "resolvedDependencies": {"type": "array", "items": DESCRIPTOR}}},
                "runDetails": {
                    "type": "object", "required": ["builder"], "additionalProperties": False,
                    "properties": {"builder": {"type": "object", "required": ["id"], "properties": {"id": URI}},
                                   "metadata": {"type": "object"}, "byproducts": {"type": "array", "items": DESCRIPTOR}}},
            }}}}


def attested():
    jsonschema = have("jsonschema")
    save_file({"m.weight": numbers(16, 48, 64)}, "a.safetensors")
    made("a.safetensors", "quant", "mxfp4")
    done, _ = explain("a.safetensors", "b.safetensors")
    texts = []
    for turn in range(2):
        checked = run("verify", "a.safetensors", "b.safetensors", "--recipe", "/dev/stdin", "--attest", "s%d.json" % turn,
                      text=done.stdout)
        TALLY.check("attest: " + checked.stderr, checked.returncode, 0)
        with open("s%d.json" % turn, "rb") as file:
            texts.append(file.read())
    TALLY.check("attest: the same bytes", texts[0], texts[1])
    statement = json.loads(texts[0])
    for file, name in ((statement["subject"][0], "b"), (statement["predicate"]["buildDefinition"]["resolvedDependencies"][0], "a")):
        with open(name + ".safetensors", "rb") as data:
            TALLY.check("attest: digest", file["digest"]["sha256"], hashlib.sha256(data.read()).hexdigest())
    if jsonschema:
        validator = jsonschema.Draft202012Validator(STATEMENT)
        TALLY.check("attest: shape", [error.message for error in validator.iter_errors(statement)], [])
        del statement["predicate"]["runDetails"]["builder"]["id"]
        TALLY.check("attest: the schema sees what is missing", validator.is_valid(statement), False)
    else:
        TALLY.skip("the shape of statements: jsonschema is not installed")
    TALLY.part("attestations")


def flip(path, name, element, bit, bits):
    """Flips a bit of an element of a stored tensor; returns the old and new values."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
    start = 8 + int.from_bytes(data[:8], "little") + header[name]["data_offsets"][0]
    place = start * 8 + element * bits
    size = max(bits // 8, 1)
    before = int.from_bytes(data[place // 8:place // 8 + size], "little")
    data[(place + bit) // 8] ^= 1 << (place + bit) % 8
    after = int.from_bytes(data[place // 8:place // 8 + size], "little")
    with open(path, "wb") as file:
        file.write(data)
    return before, after


def flips():
    """A flipped bit in any part is found at its place, and only there."""
    chance = random.Random(7)
    save_file({"m.weight": numbers(14, 300, 512, spread=1.0), "other": numbers(15, 70, 64)}, "a.safetensors")
    makes = [("cast", "bf16"), ("cast", "fp8_e4m3fn", "--overflow", "saturate"), ("cast", "fp64"),
             ("quant", "int8", "--per", "channel"), ("quant", "int4", "--block", "32"), ("quant", "mxfp4"),
             ("quant", "nvfp4"), ("quant", "uint4", "--block", "64"), ("quant", "nf4", "--layout", "bitsandbytes")]
    for words in makes:
        for turn in range(2 if QUICK else 6):
            if not made("a.safetensors", *words):
                continue
            _, good = explain("a.safetensors", "b.safetensors")
            with open("good.json", "w", encoding="utf-8") as file:
                json.dump(good, file)
            stored = load_file("b.safetensors")
            name = chance.choice([key for key in stored if key.startswith("m.weight")])
            bits = stored[name].element_size() * 8
            element = chance.randrange(stored[name].numel())
            before, after = flip("b.safetensors", name, element, chance.randrange(bits), bits)
            what = "%s: a bit of %s[%d]" % (" ".join(words), name, element)
            for threads in ("1", "4"):
                done = run("verify", "a.safetensors", "b.safetensors", "--recipe", "good.json", "--json", "--threads",
                           threads)
                if done.returncode != 1:
                    TALLY.differ(what, done.stdout + done.stderr, "exit code 1")
                    continue
                problem = json.loads(done.stdout)["problem"]
                found = problem["difference"]
                if not found:   # bits of a state, or of a shape
                    TALLY.check(what + ": " + str(problem["reason"]), bool(problem["reason"]), True)
                    continue
                TALLY.check(what, (found["tensor"], found["element"], found["differing"], int(found["expected"]["bits"], 0),
                                   int(found["found"]["bits"], 0)), (name, element, 1, before, after))
            done, answer = explain("a.safetensors", "b.safetensors")
            entry = next(entry for entry in answer["tensors"] if entry["name"] == "m.weight")
            if entry["difference"]:
                TALLY.check(what + ": explain", (done.returncode, entry["recipe"], entry["difference"]["tensor"],
                            entry["difference"]["element"], entry["difference"]["differing"]),
                            (1, good["tensors"][0]["recipe"], name, element, 1))
            else:   # another layout is read, or none if parts no longer fit together
                TALLY.check(what + ": explain: %s" % entry, (done.returncode, entry["outcome"] in ("no_recipe", "only_in_a")),
                            (1, True))
    TALLY.part("flipped bits")


def large():
    """Tensors that are compared in chunks."""
    save_file({"w": numbers(17, 1290, 1024, spread=1.0)}, "a.safetensors")
    elements = 1290 * 1024
    for words, recipe in ((("cast", "bf16", "--round", "zero"), "cast bf16 --round zero"),
                          (("cast", "bf16", "--round", "stochastic"), "cast bf16 --round stochastic"),
                          (("cast", "fp32", "--via", "fp8_e5m2"), "cast fp32 --via fp8_e5m2"),
                          (("cast", "fp4_e2m1", "--packing", "high", "--overflow", "saturate", "--round", "up"),
                           "cast fp4_e2m1 --round up --packing high")):
        made("a.safetensors", *words)
        expect("large " + " ".join(words), "a.safetensors", "b.safetensors", recipe, again=False)
        if words[1].startswith("fp4"):
            continue
        bits = 16 if words[1] == "bf16" else 32
        for element in (5, (1 << 20) - 1, 1 << 20, elements - 1):
            made("a.safetensors", *words)
            flip("b.safetensors", "w", element, 7, bits)
            _, answer = explain("a.safetensors", "b.safetensors")
            entry = answer["tensors"][0]
            TALLY.check("large %s, a bit of element %d" % (" ".join(words), element),
                        (entry["recipe"], entry["difference"] and (entry["difference"]["element"],
                                                                   entry["difference"]["differing"])), (recipe, (element, 1)))
    late = numbers(18, 1290, 1024, spread=0.1)
    late[1200, 3] = 1e6   # the policies differ only there
    save_file({"w": late}, "a.safetensors")
    for policy in ("native", "saturate"):
        made("a.safetensors", "cast", "fp8_e4m3fn", "--overflow", policy)
        expect("large, one overflow, " + policy, "a.safetensors", "b.safetensors",
               "cast fp8_e4m3fn" + (" --overflow saturate" if policy == "saturate" else ""), again=False)
    late = numbers(19, 1290, 1024, spread=1.0)
    late[:1024] = 0   # random numbers matter only beyond the first piece
    save_file({"w": late}, "a.safetensors")
    made("a.safetensors", "cast", "bf16", "--round", "stochastic")
    expect("large, random at the end", "a.safetensors", "b.safetensors", "cast bf16 --round stochastic", again=False)
    TALLY.part("large tensors")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for part in (attested, flips, large):
        part()
    os.chdir("/")
sys.exit(TALLY.finish())
