#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""explain and verify, with files from other programs: torch, numpy and ml_dtypes cast; compressed-tensors,
bitsandbytes and torchao quantize; or from dtinfo itself, with every option. Each recipe that explain names is run as a
command and must give the same bytes, and verify must agree.

usage: test_explain.py DTINFO [--long]
"""
import os
import random
import sys
import tempfile

from harness import have
from explain_files import LONG, QUICK, TALLY, expect, explain, load_file, made, np, numbers, run, save_file, torch


def by_torch():
    sources = {"fp32": torch.float32, "fp64": torch.float64, "fp16": torch.float16, "bf16": torch.bfloat16}
    floats = ["float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"]
    for source, dtype in sources.items():
        plain = {"w": numbers(1, 96, 64, spread=0.5).to(dtype), "v": numbers(2, 200).to(dtype),
                 "wide": (numbers(3, 64, 64) * 1e4).to(dtype)}
        save_file(plain, "a.safetensors")
        for target in floats:
            made = {name: value.to(getattr(torch, target)) for name, value in plain.items()}
            save_file(made, "b.safetensors")
            expect("torch %s to %s" % (source, target), "a.safetensors", "b.safetensors")
            largest = torch.finfo(getattr(torch, target)).max
            if largest > torch.finfo(dtype).max:
                continue
            save_file({name: value.clamp(-largest, largest).to(getattr(torch, target))
                       for name, value in plain.items()}, "b.safetensors")
            expect("torch %s, clamped, to %s" % (source, target), "a.safetensors", "b.safetensors")
        for target in ("int8", "int16", "int32", "int64"):
            small = {"w": (numbers(4, 40, 50, spread=0.1) * 20).clamp(-100, 100).to(dtype)}
            save_file(small, "c.safetensors")
            save_file({"w": small["w"].to(getattr(torch, target))}, "b.safetensors")
            expect("torch %s to %s" % (source, target), "c.safetensors", "b.safetensors")
    TALLY.part("torch's casts")
    wide = {"w": numbers(5, 128, 64, spread=1.0)}
    save_file(wide, "a.safetensors")
    cut = (wide["w"].view(torch.int32) >> 16).to(torch.int16).view(torch.bfloat16)
    save_file({"w": cut}, "b.safetensors")
    expect("bits cut off", "a.safetensors", "b.safetensors", "cast bf16 --round zero")
    save_file({"w": wide["w"].bfloat16().to(torch.float8_e5m2)}, "b.safetensors")
    expect("through bf16", "a.safetensors", "b.safetensors", "cast fp8_e5m2 --via bf16")
    save_file({"w": wide["w"].bfloat16().float()}, "b.safetensors")
    expect("to bf16 and back", "a.safetensors", "b.safetensors", "cast fp32 --via bf16")
    save_file({"w": wide["w"].to(torch.float8_e5m2).view(torch.uint8)}, "b.safetensors")
    save_file({"w": wide["w"].to(torch.float8_e5m2)}, "a.safetensors")
    expect("the same bytes as uint8", "a.safetensors", "b.safetensors", "renamed")
    save_file({"w": numbers(6, 9, 9).to(torch.complex64), "i": torch.arange(9), "k": torch.zeros(0, 3),
               "s": torch.tensor(3.5)}, "a.safetensors")
    answer = expect("the same", "a.safetensors", "a.safetensors", "kept")
    TALLY.check("the same: kept", answer["counts"]["kept"], 4)
    TALLY.part("routes, cut bits, other names")


def by_ml_dtypes():
    ml_dtypes = have("ml_dtypes")
    if not ml_dtypes:
        return TALLY.skip("casts of ml_dtypes: not installed")
    x = numbers(7, 60, 70, spread=1.0).numpy()
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e3m4",
                 "float8_e4m3b11fnuz", "float6_e3m2fn", "float6_e2m3fn", "float4_e2m1fn", "int4", "uint4"):
        dtype = getattr(ml_dtypes, name, None)
        if not dtype:
            continue
        with np.errstate(all="ignore"):
            made = (np.abs(x) if name == "uint4" else x).astype(dtype)
        np.save("a.npy", np.abs(x) if name == "uint4" else x)
        np.save("b.npy", made)
        done, answer = explain("a.npy", "b.npy", "--assume", name)
        entry = answer["tensors"][0]
        TALLY.check("ml_dtypes %s: %s" % (name, entry), (done.returncode, entry["outcome"]), (0, "explained"))
    for order in ("C", "F"):
        for other in ("C", "F"):
            np.save("a.npy", np.asarray(x, order=order))
            np.save("b.npy", np.asarray(x.astype(np.float16), order=other))
            expect("numpy %s to %s" % (order, other), "a.npy", "b.npy", "cast fp16")
    np.savez_compressed("a.npz", w=x, v=x[0])
    np.savez_compressed("b.npz", w=x.astype(np.float16), v=x[0])
    expect("npz", "a.npz", "b.npz", "cast fp16")
    TALLY.part("numpy's and ml_dtypes' casts")
    return None


def by_compressed_tensors():
    if not have("compressed_tensors"):
        return TALLY.skip("compressed-tensors: not installed")
    from compressed_tensors.compressors import BaseCompressor
    from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
    from compressed_tensors.quantization.utils import calculate_qparams
    w = numbers(8, 64, 256, spread=0.5)
    save_file({"m.weight": w}, "a.safetensors")
    for bits, strategy, group in ((8, "channel", None), (8, "tensor", None), (4, "group", 32), (4, "channel", None)):
        args = QuantizationArgs(num_bits=bits, type="int", symmetric=True, strategy=strategy, group_size=group)
        shaped = w.unflatten(-1, (-1, group)) if group else w
        low, high = ((shaped.min(), shaped.max()) if strategy == "tensor" else
                     (shaped.amin(-1, keepdim=not group), shaped.amax(-1, keepdim=not group)))
        scale, _ = calculate_qparams(low, high, args)
        scale = scale.reshape(1) if strategy == "tensor" else scale
        name = "pack-quantized" if bits == 4 else "int-quantized"
        scheme = QuantizationScheme(targets=["Linear"], weights=args, format=name)
        state = {"weight": w, "weight_scale": scale}
        made = BaseCompressor.get_value_from_registry(name).compress(state, scheme)
        save_file({"m." + key: value.contiguous() for key, value in made.items() if torch.is_tensor(value)},
                  "b.safetensors")
        answer = expect("compressed-tensors int%d %s" % (bits, strategy), "a.safetensors", "b.safetensors")
        TALLY.check("compressed-tensors: half the codes", "--symmetry half" in str(answer["tensors"][0]["recipe"])
                    or "--like torch" in str(answer["tensors"][0]["recipe"]), True)
    return TALLY.part("compressed-tensors")


def by_bitsandbytes():
    if not have("bitsandbytes"):
        return TALLY.skip("bitsandbytes: not installed")
    from bitsandbytes import functional
    for dtype in (torch.float32, torch.bfloat16):
        w = numbers(9, 48, 128, spread=0.5).to(dtype)
        save_file({"m.weight": w}, "a.safetensors")
        codes, state = functional.quantize_4bit(w, blocksize=64, quant_type="nf4")
        save_file({"m.weight": codes.contiguous(), **{"m.weight." + key: value.contiguous()
                   for key, value in state.as_dict(packed=True).items()}}, "b.safetensors")
        _, answer = explain("a.safetensors", "b.safetensors")
        entry = answer["tensors"][0]
        # its JSON may spell the state differently: then that part, and no other, differs
        right = entry["outcome"] == "explained" or (entry["difference"] or {}).get("tensor", "").endswith("__nf4")
        TALLY.check("bitsandbytes: %s" % entry, right, True)
        TALLY.check("bitsandbytes: recipe", entry["recipe"], "quant nf4 --layout bitsandbytes")
    return TALLY.part("bitsandbytes")


def by_torchao():
    try:
        from torchao.prototype.mx_formats.config import ScaleCalculationMode as Mode
        from torchao.prototype.mx_formats.mx_tensor import to_mx
    except ImportError:
        return TALLY.skip("torchao: not installed")
    w = numbers(10, 64, 128, spread=1.0)
    save_file({"m.weight": w}, "a.safetensors")
    for mode in ("FLOOR", "CEIL", "RCEIL", "EVEN"):
        scales, codes = to_mx(w, torch.float8_e4m3fn, 32, getattr(Mode, mode))
        save_file({"m.weight": codes.contiguous(), "m.weight_scale": scales.view(torch.uint8).contiguous()},
                  "b.safetensors")
        more = "" if mode == "FLOOR" else " --mx-scale " + mode.lower()
        expect("torchao mxfp8 " + mode, "a.safetensors", "b.safetensors", "quant mxfp8_e4m3" + more)
    return TALLY.part("torchao")


def some(cases, least):
    """All cases, or as many as time allows: the same ones every day."""
    if LONG or len(cases) <= least:
        return cases
    return random.Random(20261123).sample(cases, least // 4 if QUICK else least)


def by_options():
    w = numbers(11, 48, 64, spread=1.0)
    w[3, 5] = 1e5
    save_file({"m.weight": w, "norm": numbers(12, 64), "ids": torch.arange(7)}, "a.safetensors")
    rounds = ("nearest-even", "nearest-away", "zero", "up", "down", "odd", "stochastic")
    stacks = ("torch", "torch-2.12", "numpy", "ml_dtypes", "onnx", "onnx-nosat", "cuda", "arm-fp8-sat", "f16c")
    cases = []
    for dtype in ("fp64", "fp32", "bf16", "fp16", "fp8_e4m3fn", "fp8_e5m2", "fp8_e4m3fnuz", "fp8_e8m0", "int8", "uint8",
                  "int32", "bool"):
        cases += [("cast", dtype, "--round", name) for name in rounds]
        cases += [("cast", dtype, "--like", name) for name in stacks]
        for policy in ("native", "saturate", "saturate-finite"):
            cases += [("cast", dtype, "--overflow", policy, "--round", name) for name in rounds]
            cases += [("cast", dtype, "--overflow", policy, "--via", name) for name in ("bf16", "fp16", "fp8_e5m2")]
            cases.append(("cast", dtype, "--nan", "canonical", "--overflow", policy))
    for packing in ("low", "high"):
        cases += [("cast", "fp4_e2m1", "--packing", packing, "--overflow", "saturate", "--round", name) for name in rounds]
    for case in some(cases, 120):
        if made("a.safetensors", *case):
            expect(" ".join(case), "a.safetensors", "b.safetensors", again=LONG)
    TALLY.part("options of cast")
    cases = [("quant", name, "--mx-scale", rule) for rule in ("floor", "ceil", "rceil", "even", "rfloor")
             for name in ("mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4", "mxint8")]
    for rule in ("true", "reciprocal", "exact"):
        cases += [("quant", "nvfp4", "--division", rule, "--nv-scale", scale, "--tensor-scale", tensor)
                  for scale in ("six", "four-six", "unrounded") for tensor in ("auto", "none")]
        cases += [("quant", name, "--division", rule, *more) for name in ("nf4", "bnb_fp4")
                  for more in ((), ("--layout", "bitsandbytes"), ("--layout", "bitsandbytes", "--nested-absmax"))]
    cases += [("quant", "mxfp4", "--packing", "high"), ("quant", "q8_0"), ("quant", "q4_0"),
              ("quant", "mxfp4", "--layout", "modelopt"), ("quant", "nvfp4", "--layout", "modelopt"),
              ("quant", "int4", "--block", "48", "--pad"), ("quant", "mxfp4", "--axis", "0", "--pad")]
    pers = ((), ("--per", "channel"), ("--block", "32"), ("--per", "channel", "--axis", "1"),
            ("--block", "16", "--axis", "0"))
    for per in pers:
        for dtype in ("int8", "uint8", "int4", "uint4", "int2", "uint2", "int16", "uint16"):
            cases += [("quant", dtype, *per, *more) for more in (
                (), ("--like", "torch"), ("--symmetric",), ("--affine",), ("--symmetry", "half"),
                ("--division", "reciprocal"), ("--division", "exact"))]
        cases += [("quant", dtype, *per, *more) for dtype in ("fp8_e4m3fn", "fp8_e5m2") for more in (
            (), ("--like", "torch"), ("--division", "exact"))]
    for case in some(cases, 120):
        if made("a.safetensors", *case, "--keep", "norm"):
            expect(" ".join(case), "a.safetensors", "b.safetensors", again=LONG)
    TALLY.part("options of quant")


def by_dequantizing():
    save_file({"m.weight": numbers(13, 48, 64, spread=1.0), "ids": torch.arange(7)}, "a.safetensors")
    for words in (("mxfp4",), ("nvfp4",), ("int4", "--block", "32"), ("uint4", "--block", "32"), ("nf4", "--layout",
                  "bitsandbytes"), ("fp8_e4m3fn", "--per", "channel")):
        if not made("a.safetensors", "quant", *words):
            continue
        os.replace("b.safetensors", "q.safetensors")
        expect("kept " + words[0], "q.safetensors", "q.safetensors", "kept")
        for dtype in ("fp32", "bf16", "fp16"):
            done = run("quant", "q.safetensors", dtype, "--dequant", "-o", "b.safetensors", "-q", "--force")
            TALLY.check("dequantizing " + words[0], done.returncode, 0)
            expect("%s to %s" % (words[0], dtype), "q.safetensors", "b.safetensors", "quant %s --dequant" % dtype)
        whole = load_file("b.safetensors")
        for name, dtype in (("bf16", torch.bfloat16), ("fp8_e5m2", torch.float8_e5m2)):
            run("quant", "q.safetensors", "fp32", "--dequant", "-o", "c.safetensors", "-q", "--force")
            whole = load_file("c.safetensors")
            save_file({key: value if key == "ids" else value.half().to(dtype) for key, value in whole.items()},
                      "b.safetensors")
            expect("%s through fp16 to %s" % (words[0], name), "q.safetensors", "b.safetensors")
    TALLY.part("dequantization")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for part in (by_torch, by_ml_dtypes, by_compressed_tensors, by_bitsandbytes, by_torchao, by_options, by_dequantizing):
        part()
    os.chdir("/")
sys.exit(TALLY.finish())
