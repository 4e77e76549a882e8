#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""explain and verify of files that were made with another assumption than the reader's: nibbles swapped, rows in the order
of another rope, matrices transposed, codes by the scale before it was rounded, and a power of two from floor(log2(amax /
6)). All files are made here by numpy. Each assumption is named for its own files and for no others.

usage: test_explain_orders.py DTINFO
"""
import json
import os
import re
import sys
import tempfile

from explain_files import TALLY, explain, np, run, save_file, torch

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)
ORDERS = ("nibbles", "transposed", "adjacent", "apart", "unrounded", "rfloor")
RANDOM = np.random.default_rng(11)


def normal(*shape):
    return RANDOM.normal(0, 0.05, shape).astype(np.float32)


def named(recipe):
    return {word for word in ORDERS if word in recipe}


def check(what, plain, made, want, recipes=None):
    """want: tensor -> the words of its recipe, or None: no recipe may name an assumption."""
    for path, tensors in (("a.safetensors", plain), ("b.safetensors", made)):
        save_file({name: value if torch.is_tensor(value) else torch.from_numpy(np.ascontiguousarray(value))
                   for name, value in tensors.items()}, path)
    done, answer = explain("a.safetensors", "b.safetensors")
    found = {entry["name"]: entry for entry in answer["tensors"]}
    for name, recipe in want.items():
        entry = found[name]
        if recipe is None:
            TALLY.check("%s: %s: %s" % (what, name, entry), named(entry["recipe"] or ""), set())
        else:
            TALLY.check("%s: %s: %s" % (what, name, entry), (entry["outcome"], entry["recipe"]), ("explained", recipe))
    if want and all(want.values()):
        TALLY.check(what + ": exit", done.returncode, 0)
        with open("recipes.json", "w") as file:
            file.write(json.dumps(answer))
        again = run("verify", "a.safetensors", "b.safetensors", "--recipe", "recipes.json", "-q")
        TALLY.check(what + ": verify: " + again.stderr[-300:], again.returncode, 0)
    return found


def permute(x, heads):
    """As llama.cpp's converter."""
    return x.reshape(heads, 2, x.shape[0] // heads // 2, *x.shape[1:]).swapaxes(1, 2).reshape(x.shape)


def unpermute(x, heads):
    return x.reshape(heads, x.shape[0] // heads // 2, 2, *x.shape[1:]).swapaxes(1, 2).reshape(x.shape)


def rows_of_heads():
    for rows, head in ((512, 128), (512, 64), (256, 256), (288, 96), (160, 80), (64, 32)):
        q, k, norm = normal(rows, 48), normal(head, 48), normal(48)
        for order, words in ((permute, "rope pairs adjacent"), (unpermute, "rope pairs half a head apart")):
            made = {"q": order(q, rows // head), "k": order(k, 1), "bias": order(q[:, 0], rows // head), "norm": norm}
            plain = {"q": q, "k": k, "bias": q[:, 0], "norm": norm}
            said = "%s, heads of %d" % (words, head)
            kept = "kept; " + said
            check("kept %d x %d" % (rows, head), plain, made, {"q": kept, "k": kept, "bias": kept, "norm": "kept"})
            half = {name: torch.from_numpy(np.ascontiguousarray(value)).bfloat16() for name, value in made.items()}
            cast = "cast bf16; " + said
            check("cast %d x %d" % (rows, head), plain, half, {"q": cast, "k": cast, "norm": "cast bf16"})
    large = normal(2048, 1024)
    check("a large one", {"q": large}, {"q": permute(large, 16)}, {"q": "kept; rope pairs adjacent, heads of 128"})
    wrong = permute(large, 16)
    wrong[77, 5] += 1
    found = check("nearly", {"q": large, "x": normal(4, 4)}, {"q": wrong, "x": normal(4, 4)}, {})
    TALLY.check("nearly: %s" % found["q"], (found["q"]["outcome"], found["q"]["recipe"], found["q"]["difference"]["differing"]),
                ("different", "kept; rope pairs adjacent, heads of 128", 1))
    check("others", {"a": normal(256, 64), "b": normal(128, 128), "c": np.zeros((256, 8), np.float32)},
          {"a": normal(256, 64), "b": normal(128, 128), "c": np.zeros((256, 8), np.float32)}, {"a": None, "b": None, "c": None})
    many = {"t%d" % i: normal(128, 8) for i in range(40)}
    check("many small others", many, {name: normal(128, 8) for name in many}, dict.fromkeys(many))
    check("many small ones", many, {name: permute(x, 2) for name, x in many.items()},
          dict.fromkeys(many, "kept; rope pairs adjacent, heads of 64"))
    TALLY.part("rows of heads")


def transposed():
    for shape in ((48, 80), (64, 64), (1, 9), (300, 700)):
        w = normal(*shape)
        check("transposed %s" % (shape,), {"w": w, "n": normal(4)[:0]}, {"w": w.T, "n": normal(4)[:0]},
              {"w": "kept" if 1 in shape and shape[0] == shape[1] else "kept; transposed"})
        check("transposed and cast %s" % (shape,), {"w": w, "n": np.ones(3, np.float32)},
              {"w": torch.from_numpy(np.ascontiguousarray(w.T)).half(), "n": np.ones(3, np.float32)},
              {"w": "cast fp16; transposed", "n": "kept"})
    w = normal(48, 80)
    found = check("other shapes", {"w": w, "v": w + 0}, {"w": normal(80, 48), "v": normal(40, 96)}, {"w": None, "v": None})
    for name in ("w", "v"):
        TALLY.check("other shapes: %s" % found[name], "shapes" in (found[name]["reason"] or ""), True)
    symmetric = w[:48, :48] + w[:48, :48].T
    check("symmetric", {"w": symmetric, "x": w}, {"w": symmetric.T, "x": w}, {"w": "kept", "x": "kept"})
    TALLY.part("transposed")


def quantized(*words):
    """The file that dtinfo makes of a.safetensors, as tensors."""
    done = run("quant", "a.safetensors", *words, "-o", "q.safetensors", "-q", "--force")
    TALLY.check("quant " + " ".join(words) + done.stderr, done.returncode, 0)
    from explain_files import load_file
    return load_file("q.safetensors")


def swap(x):
    raw = x.view(torch.uint8)
    return ((raw << 4) | (raw >> 4)).view(x.dtype)


def nibbles():
    plain = {"m.weight": normal(32, 128)}
    for words in (("mxfp4", "--layout", "modelopt"), ("nvfp4", "--layout", "modelopt"), ("nvfp4",), ("mxfp4",), ("int4", "--block", "32")):
        save_file({"m.weight": torch.from_numpy(plain["m.weight"])}, "a.safetensors")
        parts = quantized(*words)
        codes = next(name for name in parts if re.search("weight(_packed)?$", name))
        check("right " + words[0], plain, parts, {"m.weight": "quant " + " ".join(words)})
        found = check("swapped " + words[0], plain, parts | {codes: swap(parts[codes])}, {})["m.weight"]
        # where the layout leaves the order open, it is an option
        high = " --packing high" in found["recipe"]
        TALLY.check("swapped %s: %s" % (words, found), (found["outcome"], found["recipe"].replace(" --packing high", "")),
                    ("explained", "quant " + " ".join(words) + ("" if high else "; nibbles swapped")))
        # the same in a file that was quantized before
        check("kept, swapped " + words[0], parts, parts | {codes: swap(parts[codes])}, {"m.weight": "kept; nibbles swapped"})
        check("kept " + words[0], parts, parts, {"m.weight": "kept"})
        other = {codes: torch.randint(0, 256, parts[codes].view(torch.uint8).shape, dtype=torch.uint8).view(parts[codes].dtype)}
        check("other " + words[0], plain, parts | other, {"m.weight": None})
    TALLY.part("nibbles")


def e2m1(quotient):
    """To nearest even, saturating; with the sign of the number."""
    size = np.abs(quotient)
    borders = np.array([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5], np.float32)
    code = (size[..., None] > borders).sum(-1)
    tie = (size[..., None] == borders) & (np.arange(7) % 2 == 1)
    return ((code + tie.any(-1)) | np.where(np.signbit(quotient), 8, 0)).astype(np.uint8)


def pack(codes):
    return codes[:, 0::2] | codes[:, 1::2] << 4


def scales():
    for seed in range(3):
        w = normal(24, 256) * np.float32(10.0 ** seed)
        # nvfp4: the code by the scale before and after it was rounded to fp8
        whole = np.float32(np.abs(w).max()) / np.float32(2688)
        blocks = w.reshape(24, -1, 16)
        share = (np.abs(blocks).max(-1) / np.float32(6) / whole).astype(np.float32)
        rounded = torch.from_numpy(share).to(torch.float8_e4m3fn)
        for name, by in (("unrounded", share), ("rounded", rounded.float().numpy())):
            codes = pack(e2m1(blocks / (by * whole).astype(np.float32)[..., None]).reshape(24, 256))
            made = {"m.weight": codes, "m.weight_scale": rounded, "m.weight_scale_2": torch.tensor(whole)}
            words = " --nv-scale unrounded" if name == "unrounded" else ""
            found = check("nvfp4 " + name, {"m.weight": w}, made, {})["m.weight"]
            recipe = re.sub(" --tensor-scale own| --division true", "", found["recipe"])
            TALLY.check("nvfp4 %s: %s" % (name, found), (found["outcome"], recipe),
                        ("explained", "quant nvfp4%s --layout modelopt" % words))
        # mxfp4: E8M0 from floor(log2(amax / 6)), and as OCP MX says
        blocks = w.reshape(24, -1, 32)
        amax = np.abs(blocks).max(-1).astype(np.float64)
        for name, exponent in (("rfloor", np.floor(np.log2(amax / 6))), ("floor", np.floor(np.log2(amax)) - 2),
                               ("rceil", np.ceil(np.log2(amax / 6)))):
            codes = pack(e2m1((blocks / np.exp2(exponent)[..., None]).astype(np.float32)).reshape(24, 256))
            made = {"m.weight_packed": codes, "m.weight_scale": (exponent + 127).astype(np.uint8)}
            words = "" if name == "floor" else " --mx-scale " + name
            check("mxfp4 " + name, {"m.weight": w}, made, {"m.weight": "quant mxfp4" + words})
    TALLY.part("scales")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for part in (rows_of_heads, transposed, nibbles, scales):
        part()
    os.chdir("/")
sys.exit(TALLY.finish())
