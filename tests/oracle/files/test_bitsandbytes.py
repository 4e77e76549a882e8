#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bitsandbytes' 4-bit layout, both ways, against the library itself on the CPU: the parts of a quantized tensor, what
its loader reads from our files, and what we read from its files. Where its CPU code has a rule of its own, that rule
is written out here and everything else must be equal.

usage: test_bitsandbytes.py DTINFO
"""
import itertools
import json
import os
import subprocess
import sys
import tempfile
import warnings
from fractions import Fraction

from harness import Tally, have

PROGRAM = os.path.abspath(sys.argv[1])
warnings.simplefilter("ignore")
os.environ["TORCHDYNAMO_DISABLE"] = "1"
np, torch, safetensors = (have(name) for name in ("numpy", "torch", "safetensors"))
bitsandbytes = torch and have("bitsandbytes")
if not (np and safetensors and bitsandbytes):
    print("skipped: needs numpy, torch, safetensors and bitsandbytes")
    sys.exit(77)
import safetensors.torch
from bitsandbytes import functional
from bitsandbytes.backends.default import ops

TALLY = Tally()
TYPES = {"nf4": "nf4", "bnb_fp4": "fp4"}
NAMES = {torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16"}
STATE = "quant_state.bitsandbytes__"


def run(*words):
    done = subprocess.run([PROGRAM, "quant", *words, "--force", "-q"], stderr=subprocess.PIPE)
    if done.returncode:
        sys.exit("quant %s: %s" % (" ".join(words), done.stderr.decode()))


def same(what, ours, theirs):
    TALLY.checked += theirs.numel()
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        TALLY.differ(what, (ours.shape, ours.dtype), (theirs.shape, theirs.dtype))
    elif not torch.equal(ours, theirs):
        at = (ours.reshape(-1) != theirs.reshape(-1)).nonzero().reshape(-1)
        TALLY.differ("%s at %d (%d of %d)" % (what, at[0], len(at), ours.numel()), ours.reshape(-1)[at[0]],
                     theirs.reshape(-1)[at[0]])


def halves(codes):
    codes = codes.reshape(-1)
    return torch.stack([codes >> 4, codes & 15], dim=1).reshape(-1)


def inputs():
    torch.manual_seed(20261123)
    spread = torch.randn(257, 333) * torch.exp(2 * torch.randn(257, 1))
    return {"a.weight": torch.randn(300, 200), "b.weight": (torch.randn(130, 77) * 0.02).bfloat16(),
            "c": torch.randn(7).half(), "d.weight": torch.zeros(64, 600), "e.weight": torch.full((3, 64), 2.5),
            "f.weight": spread, "g": torch.randn(3, 5, 7, 11), "h.weight": torch.randn(40, 4096).half(),
            "i": torch.randn(64 * 256 * 3), "j": torch.randn(64 * 256 + 1), "k": torch.randn(1)}


def parts_of(tensors, name):
    """The parts as QuantState.from_dict() receives them."""
    return {key[len(name) + 1:]: value for key, value in tensors.items() if key.startswith(name + ".")}


def codes_equal(what, ours, theirs, kind, tensor):
    """bitsandbytes on the CPU encodes an FP4 number just above zero as 8, where CUDA encodes it as 0; both decode to
    +0. Its CPU thresholds are midpoints; CUDA's, and ours, have fewer digits, so numbers between the two may differ.
    In a tensor of odd length the last half byte is the code of zero."""
    count = tensor.numel()
    TALLY.check(what + ": bytes", (tuple(ours.shape), ours.dtype), (tuple(theirs.shape), theirs.dtype))
    ours, theirs = halves(ours), halves(theirs)
    if kind == "fp4":
        ours, theirs = ours.clone(), theirs.clone()
        ours[ours == 8] = 0
        theirs[theirs == 8] = 0
        flat = tensor.reshape(-1).float()
        blocks = torch.nn.functional.pad(flat, (0, -count % 64)).reshape(-1, 64)
        quotient = (blocks / blocks.abs().amax(dim=1, keepdim=True)).abs().reshape(-1)[:count]
        numbers = functional.get_4bit_type("fp4", device="cpu")[:8].sort()[0]
        limits = (numbers[1:] + numbers[:-1]) / 2
        near = ((quotient[:, None] - limits).abs() < 1e-6).any(dim=1)
        TALLY.check(what + ": few are near a limit", int(near.sum()) < 40 + count // 1000, True)
        theirs[:count][near] = ours[:count][near]
    same(what + ": codes", ours[:count], theirs[:count])
    if count % 2:
        TALLY.check(what + ": last half", int(ours[-1]), 7 if kind == "nf4" else 0)


def nearest(scales, state):
    """The codes of scales by the published rule, given the offset: how many midpoints lie below."""
    offset = torch.tensor(state["nested_offset"], dtype=torch.float32)
    differences = scales - offset
    groups = [differences[at:at + 256] for at in range(0, len(differences), 256)]
    own = torch.stack([group.abs().max() for group in groups])
    table = functional.create_dynamic_map()
    middle = (table[:-1] + table[1:]) / 2
    codes = [torch.bucketize(group * (1 / amax), middle) if amax > 0 else torch.zeros(len(group), dtype=torch.int64)
             for group, amax in zip(groups, own)]
    return torch.cat(codes).to(torch.uint8), own


def written(dtype, nested):
    """Every part against quantize_4bit(). Its CPU code, and only that, divides a short last block by the scale."""
    tensors, kind = inputs(), TYPES[dtype]
    safetensors.torch.save_file(tensors, "in.safetensors")
    words = ["--layout", "bitsandbytes"] + (["--nested-absmax"] if nested else [])
    run("in.safetensors", dtype, "-o", "out.safetensors", *words)
    run("in.safetensors", dtype, "-o", "true.safetensors", *words, "--division", "true")
    out, true = (safetensors.torch.load_file(name) for name in ("out.safetensors", "true.safetensors"))
    for name, tensor in tensors.items():
        what = "%s%s of %s" % (dtype, ", nested" if nested else "", name)
        codes, there = functional.quantize_4bit(tensor, quant_type=kind, compress_statistics=nested)
        plain = functional.quantize_4bit(tensor, quant_type=kind)[1]
        theirs, ours = there.as_dict(packed=True), parts_of(out, name)
        TALLY.check(what + ": parts", sorted(ours), sorted(theirs))
        whole = tensor.numel() // 64 * 32
        codes_equal(what, torch.cat([out[name][:whole], true[name][whole:]]), codes, kind, tensor)
        same(what + ": map", ours["quant_map"], theirs["quant_map"])
        text, wanted = (bytes(part[STATE + kind].tolist()).decode() for part in (ours, theirs))
        state, their_state = json.loads(text), json.loads(wanted)
        if not nested:
            TALLY.check(what + ": state", text, wanted)
            same(what + ": absmax", ours["absmax"], theirs["absmax"])
            continue
        TALLY.check(what + ": members", list(state), list(their_state))
        TALLY.check(what + ": spelling", text.rstrip(" "), json.dumps(state))
        mean = sum(map(Fraction, plain.absmax.double().tolist())) / len(plain.absmax)
        TALLY.check(what + ": offset", state["nested_offset"], float(np.float32(float(mean))))
        error = abs(state["nested_offset"] - their_state["nested_offset"])
        TALLY.check(what + ": offset near theirs", error <= 1e-5 * state["nested_offset"], True)
        same(what + ": nested map", ours["nested_quant_map"], functional.create_dynamic_map())
        scales, own = nearest(plain.absmax, state)
        same(what + ": scales", ours["absmax"], scales)
        same(what + ": scales of scales", ours["nested_absmax"], own)
        if error == 0:      # its CPU code looks up codes in a table of 2^16 entries
            same(what + ": its scales of scales", ours["nested_absmax"], theirs["nested_absmax"])
            table = functional.create_dynamic_map()
            off = table[ours["absmax"].long()] - table[theirs["absmax"].long()]
            TALLY.check(what + ": its scales", bool((off.abs() < 0.015).all()), True)


def expected(codes, state, dtype=None):
    """Its Python code: the native code is wrong if a row is not a multiple of a block."""
    absmax = state.absmax
    if state.nested:
        absmax = functional.dequantize_blockwise(state.absmax, state.state2) + state.offset
    code = functional.get_4bit_type(state.quant_type, device="cpu")
    raw = codes.reshape(-1).view(torch.uint8)
    return ops._dequantize_4bit_compute(raw, absmax.float(), code, state.blocksize, state.shape, dtype or state.dtype)


def loaded(dtype, nested):
    """Our files through its loader; and all dtypes through ours."""
    for name, tensor in inputs().items():
        safetensors.torch.save_file({name: tensor}, "in.safetensors")
        run("in.safetensors", dtype, "-o", "out.safetensors", "--layout", "bitsandbytes",
            *(["--double-quant"] if nested else []))
        out = safetensors.torch.load_file("out.safetensors")
        state = functional.QuantState.from_dict(parts_of(out, name), device="cpu")
        TALLY.check(name + ": shape", tuple(state.shape), tuple(tensor.shape))
        TALLY.check(name + ": dtype", state.dtype, tensor.dtype)
        for to, word in NAMES.items():
            run("out.safetensors", word, "--dequant", "-o", "back.safetensors")
            back = safetensors.torch.load_file("back.safetensors")[name]
            same("%s, %s to %s" % (name, dtype, word), back, expected(out[name], state, to).reshape(tensor.shape))
        if tensor.shape[-1] % 64 == 0 and len(out[name]) > 1:
            run("out.safetensors", NAMES[tensor.dtype], "--dequant", "-o", "back.safetensors")
            back = safetensors.torch.load_file("back.safetensors")[name]
            same("%s by dequantize_4bit" % name, back, functional.dequantize_4bit(out[name], state).reshape(tensor.shape))


def layer():
    """A bitsandbytes layer with our weight, loaded as its users do."""
    torch.manual_seed(9)
    weight, x = torch.randn(96, 128) * 0.05, torch.randn(4, 128)
    safetensors.torch.save_file({"weight": weight}, "in.safetensors")
    for dtype, nested in itertools.product(TYPES, ([], ["--nested-absmax"])):
        run("in.safetensors", dtype, "-o", "out.safetensors", "--layout", "bitsandbytes", *nested)
        run("out.safetensors", "fp32", "--dequant", "-o", "back.safetensors")
        tensors = safetensors.torch.load_file("out.safetensors")
        made = bitsandbytes.nn.Linear4bit(128, 96, bias=False, quant_type=TYPES[dtype])
        made.weight = bitsandbytes.nn.Params4bit.from_prequantized(
            tensors.pop("weight"), tensors, device="cpu")
        back = safetensors.torch.load_file("back.safetensors")["weight"]
        same("Linear4bit of %s" % dtype, made(x), x @ back.T)


def its_own():
    """Files that bitsandbytes wrote: every block length, every storage dtype, both types, nested or not."""
    shapes = ((48, 96), (64, 32), (33, 20), (8, 4096), (1, 4), (5, 7, 2), (300, 200))
    storages = (torch.uint8, torch.bfloat16, torch.float16, torch.float32)
    dtypes = tuple(NAMES)
    torch.manual_seed(5)
    tensors, wanted = {}, {}
    for number, (block, kind, nested) in enumerate(itertools.product((32, 64, 128, 256, 512, 1024, 2048, 4096),
                                                                      TYPES.values(), (False, True))):
        for shape in shapes:
            tensor = (torch.randn(shape) * 3).to(dtypes[number % 3])
            storage = storages[(number + len(tensors)) % 4]
            if tensor.numel() % 16:
                storage = torch.uint8
            codes, state = functional.quantize_4bit(tensor, blocksize=block, quant_type=kind,
                                                    compress_statistics=nested, quant_storage=storage)
            name = "t%d.weight" % len(wanted)
            tensors[name] = codes
            for key, value in state.as_dict(packed=True).items():
                tensors[name + "." + key] = value.clone()
            wanted[name] = tuple(shape), expected(codes, state, torch.float32).reshape(shape), state.quant_type
    for block in (32, 64, 128):     # more scales than are kept in memory at once
        codes, state = functional.quantize_4bit(torch.rand(1601, 1601), blocksize=block, quant_type="nf4",
                                                compress_statistics=True)
        tensors["l%d" % block] = codes
        tensors.update(("l%d.%s" % (block, key), value.clone()) for key, value in state.as_dict(packed=True).items())
        wanted["l%d" % block] = (1601, 1601), expected(codes, state, torch.float32), "nf4"
    safetensors.torch.save_file(tensors, "theirs.safetensors")
    run("theirs.safetensors", "fp32", "--dequant", "-o", "back.safetensors")
    back = safetensors.torch.load_file("back.safetensors")
    TALLY.check("tensors", sorted(back), sorted(wanted))
    shown = json.loads(subprocess.run([PROGRAM, "inspect", "theirs.safetensors", "--json"],
                                      stdout=subprocess.PIPE).stdout)["files"][0]["tensors"]
    for tensor in shown:
        shape, numbers, kind = wanted[tensor["name"]]
        form = tensor["quantized"]
        TALLY.check(tensor["name"], (tuple(tensor["shape"]), TYPES[form["format"]], form["layout"]),
                    (shape, kind, "bitsandbytes"))
        same(tensor["name"], back[tensor["name"]], numbers)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for which, nested in itertools.product(TYPES, (False, True)):
        written(which, nested)
        loaded(which, nested)
    layer()
    TALLY.part("written")
    its_own()
    TALLY.part("its own files")
TALLY.finish()
