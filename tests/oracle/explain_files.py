# SPDX-License-Identifier: MIT
"""Shared by the tests of explain and verify: running them, numbers, and the expected outcome for a pair of files."""
import json
import os
import subprocess
import sys
import warnings

from harness import QUICK, Tally, have

PROGRAM = os.path.abspath(sys.argv[1])
LONG = "--long" in sys.argv
warnings.simplefilter("ignore")
os.environ["TORCHDYNAMO_DISABLE"] = "1"
np, torch, safetensors = (have(name) for name in ("numpy", "torch", "safetensors"))
if not (np and torch and safetensors):
    print("skipped: needs numpy, torch and safetensors")
    sys.exit(77)
from safetensors.torch import load_file, save_file

TALLY = Tally()


def run(*words, text=None):
    return subprocess.run([PROGRAM, *words], input=text, capture_output=True, text=True, check=False)


def explain(a, b, *options):
    done = run("explain", a, b, "--json", *options)
    try:
        return done, json.loads(done.stdout)
    except ValueError:
        sys.exit("explain %s %s: %s" % (a, b, done.stderr))


def bytes_of(tensor):
    return tensor.contiguous().reshape(-1).view(torch.uint8) if tensor.dim() else tensor.reshape(1).view(torch.uint8)


def rerun(what, a, tensors, entry):
    """Running the recipe as a command must make the same tensors."""
    for place, words in enumerate(entry["recipe"].split(" then ")):
        target = "made%d.safetensors" % place
        command, *rest = words.split()
        select = [] if place else ["--select", entry["name"]]
        done = run(command, a, *rest, *select, "-o", target, "-q", "--force")
        if done.returncode:
            TALLY.differ(what + ": " + words, done.stderr, "")
            return
        a = target
    for name, made in load_file(a).items():
        TALLY.check("%s: %s: %s is there" % (what, entry["recipe"], name), name in tensors, True)
        there = tensors.get(name, made)
        same = made.shape == there.shape and made.dtype == there.dtype and torch.equal(bytes_of(made), bytes_of(there))
        TALLY.check("%s: %s makes %s" % (what, entry["recipe"], name), same, True)


def expect(what, a, b, recipe=None, again=True):
    """Every tensor of b is explained by one of the recipes."""
    done, answer = explain(a, b)
    TALLY.check(what + ": exit code", done.returncode, 0)
    for entry in answer["tensors"]:
        if entry["outcome"] == "only_in_a":
            continue
        TALLY.check("%s: %s (%s)" % (what, entry["name"], entry), entry["outcome"], "explained")
        if recipe and entry["recipe"] not in ("kept", recipe):
            TALLY.differ("%s: %s" % (what, entry["name"]), entry["recipe"], recipe)
    checked = run("verify", a, b, "--recipe", "/dev/stdin", text=done.stdout)
    TALLY.check("%s: verify: %s" % (what, checked.stdout + checked.stderr), checked.returncode, 0)
    if again and b.endswith(".safetensors"):
        tensors = load_file(b)
        told = set()
        for entry in answer["tensors"]:
            if entry["outcome"] == "explained" and entry["recipe"] not in told | {"kept", "renamed"}:
                told.add(entry["recipe"])
                rerun(what, a, tensors, entry)
    return answer


def numbers(seed, *shape, spread=2.0):
    torch.manual_seed(seed)
    return torch.randn(*shape) * torch.exp(spread * torch.randn(*shape[:-1], 1))


def made(a, *words):
    """A file that dtinfo makes, or None if it refuses."""
    done = run(words[0], a, *words[1:], "-o", "b.safetensors", "-q", "--force")
    if done.returncode and "unknown" not in done.stderr and "has no" not in done.stderr:
        TALLY.differ("%s: %s" % (a, " ".join(words)), done.stderr, "")
    return None if done.returncode else "b.safetensors"
