#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Patterns for module names, compared with Python's re and fnmatch, and with transformers' rule for modules that are
not converted. Patterns are generated from the grammar of the subset, which must be accepted, and from noise, which
must be refused if Python refuses it, and otherwise only with the name of a construct outside the subset."""
import fnmatch
import random
import re
import struct
import subprocess
import sys
import warnings

import harness

warnings.simplefilter("ignore")
START, PART, WILDCARD, END, WHOLE, GROUPS = range(6)
LETTERS = "ab.1_"
BOUNDARY = r"(?:(?<=\.)|(?=\.|$))"
probe, long = sys.argv[1], "--long" in sys.argv
random.seed(18)


def members():
    def one():
        return random.choice(["a", "b", "1", "_", ".", "-", "a-b", "0-9", r"\d", r"\w", r"\s", r"\D", r"\.", r"\]", r"\-", "^", "$",
                              "(", "|", r"\n", r"\W"])
    return random.choice(["", "", "^"]) + random.choice(["", "", "]"]) + "".join(one() for _ in range(random.randint(1, 3)))


def atom(depth):
    kind = random.random()
    if kind < 0.5:
        return random.choice(["a", "b", "1", "_", r"\.", "\u20ac", "\n", "-", "{", "}", "]", "a{", "{b}", "{,b}"])
    if kind < 0.6:
        return "."
    if kind < 0.7:
        return random.choice([r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", r"\n", r"\\", r"\$", "\\\u20ac"])
    if kind < 0.8:
        return "[" + members() + "]"
    if depth == 0:
        return "a"
    return random.choice(["(", "(?:"]) + alternatives(depth - 1) + ")"


def piece(depth):
    if random.random() < 0.1:
        return random.choice("^$")
    text = atom(depth)
    if random.random() < 0.4:
        low = random.randint(0, 3)
        text += random.choice(["*", "+", "?", "{%d}" % low, "{%d,}" % low, "{,%d}" % low, "{%d,%d}" % (low, low + random.randint(0, 2)),
                               "{,}"]) + random.choice(["", "", "?"])
    return text


def alternatives(depth):
    return "|".join("".join(piece(depth) for _ in range(random.randint(0, 3))) for _ in range(random.choice([1, 1, 1, 2, 3])))


def noise():
    return "".join(random.choice(["a", "b", ".", "1", "*", "+", "?", "(", ")", "[", "]", "{", "}", ",", "^", "$", "|", "\\", "-", "2",
                                  "(?:", "(?=", "(?i)", "\\d", "\\b", "\\1", "\u20ac"]) for _ in range(random.randint(1, 8)))


def name():
    length = random.choice([0, 1, 2, 3, 4, 6, 10])
    text = "".join(random.choice(LETTERS) for _ in range(length))
    if random.random() < 0.1:
        text = "\u20ac" + text
    return text + random.choice(["", "", "", "", "\n", "\u20ac", "\n\n"])


def real():
    """Patterns of published configurations, and names that they match."""
    patterns = ["model", ".*lm_head", "lm_head$", ".*self_attn.(q|k|v|o)_proj.*", r"model\.layers\.(0|1|[2-9]|1\d)\.mlp.*",
                ".*experts.*(gate|up|down)_proj", r".*\.layers\.\d+\.mlp\.gate$", "vision_model.*", "multi_modal_projector.*",
                "^model", r"layers\.1", "model.layers.1", "model.layers.*.self_attn", r".*\.(?:visual|vision_tower)\..*", ".*norm",
                "(model|language_model)[.]layers[.][0-9]{1,2}[.]", ""]
    names = ["model", "lm_head", "model.lm_head", "model.layers.1.mlp.gate", "model.layers.11.mlp.gate_proj",
             "model.layers.1.self_attn.q_proj", "model.layers.17.mlp.experts.3.down_proj", "vision_model.x", "a.visual.b",
             "language_model.layers.3.x", "model.norm", "model.layers.1", "xmodel.layers.1"]
    return [(n, [(START, p) for p in patterns] + [(PART, p) for p in patterns]) for n in names]


def truth(kind, pattern, text):
    """Whether it matches, or the places of its groups; None: Python refuses it."""
    if kind == END:
        return text.endswith(pattern)
    if kind == WILDCARD:
        return fnmatch.fnmatchcase(text, pattern)
    try:
        if re.compile(pattern).groups > 9 and kind == GROUPS:
            return None
        if kind in (WHOLE, GROUPS):
            found = re.fullmatch(pattern, text)
            return found is not None if kind == WHOLE else places(found, text)
        return re.match(pattern if kind == START else "(?:%s)%s" % (pattern, BOUNDARY), text) is not None
    except (re.error, OverflowError, RecursionError):
        return None


def places(found, text):
    """In bytes, as the probe writes them."""
    if not found:
        return "no match"
    place = [-1 if at < 0 else len(text[:at].encode()) for span in found.regs[1:] for at in span]
    return "at " + " ".join("%d-%d" % pair for pair in zip(place[::2], place[1::2])) if place else "no groups"


def repeats_nothing(pattern):
    """Whether a group that can match nothing may be repeated: the last turn of such a loop is Python's own."""
    return bool(re.search(r"\)(?:[*+]|\{\d*,\d*\}|\{[2-9]\})", pattern))


def requests():
    yield from real()
    for _ in range(60000 if long else 1500 if harness.QUICK else 6000):
        many = [(random.choice([START, START, PART]), alternatives(2)) for _ in range(random.choice([1, 1, 2, 8]))]
        yield name(), many + [(kind, "".join(random.choice("ab.1_*?\u20ac") for _ in range(random.randint(0, 6)))) for kind in (WILDCARD, END)]
    for _ in range(60000 if long else 1000 if harness.QUICK else 4000):
        patterns = [alternatives(2) for _ in range(4)]
        yield name(), [(WHOLE, p) for p in patterns] + [(GROUPS, re.sub(r"(?<=[*+?}])\?", "", p)) for p in patterns]
    for _ in range(30000 if long else 800 if harness.QUICK else 3000):
        yield name(), [(START, noise()) for _ in range(3)]


def ask(batch):
    data = b""
    for text, patterns in batch:
        raw = text.encode()
        data += struct.pack("<BH", len(patterns), len(raw)) + raw
        for kind, pattern in patterns:
            raw = pattern.encode()
            data += struct.pack("<BH", kind, len(raw)) + raw
    out = subprocess.run([probe], input=data, stdout=subprocess.PIPE, check=True).stdout.decode()
    return out.split("\n")[:-1]


def answers(line, count):
    result = []
    while len(result) < count:
        if line[0] in "01":
            result.append(line[0] == "1")
            line = line[1:]
        else:
            reason, line = line.split(";", 1)
            result.append(reason)
    assert line == "", line
    return result


OUTSIDE = re.compile(r"\(\?|\\[1-9bBAZ0]|[*+?}]\+|\u20ac")
batch = list(requests())
checked = refused = wrong = matches = captured = 0
for (text, patterns), line in zip(batch, ask(batch)):
    for (kind, pattern), got in zip(patterns, answers(line, len(patterns))):
        want = truth(kind, pattern, text)
        checked += 1
        if kind == GROUPS and not repeats_nothing(pattern):
            captured += 1
            ok = got == want or want is None or ("not supported" in got and OUTSIDE.search(pattern) is not None)
        elif kind == GROUPS:
            ok = True
        elif isinstance(got, str):
            refused += 1
            ok = want is None or ("not supported" in got and OUTSIDE.search(pattern))
        else:
            ok = got == want
            matches += got
        if not ok:
            wrong += 1
            if wrong < 20:
                print("pattern %r (%d), name %r: %r, not %r" % (pattern, kind, text, got, want))
assert matches > checked / 10 and refused < checked / 3
try:
    from transformers.quantizers.quantizers_utils import should_convert_module
except ImportError:
    print("transformers: not there")
else:
    theirs = 0
    for text, patterns in batch[:3000]:
        for kind, pattern in patterns:
            want = truth(PART, pattern, text)
            if kind == PART and want is not None:
                theirs += 1
                if should_convert_module(text, [pattern]) != (not (want or text.endswith(pattern))):
                    wrong += 1
    print("%d answers of transformers" % theirs)
print("%d places of groups" % captured)
print("%d answers, %d of them matches, %d refused, %d different" % (checked, matches, refused, wrong))
sys.exit(wrong > 0)
