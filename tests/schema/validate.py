#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Validates real JSON output against the shipped schemas, and reads back every number in it.

usage: validate.py DTINFO SCHEMAS [--locale NAME]

Each command line runs in the C locale and in another one; the bytes must be the same. The documents in the golden
output of tests/cli are validated as well. Together they must cover each member of each schema at least once.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import checker
import readback

QUICK = "DTI_TEST_QUICK" in os.environ  # run only a sample, as on each push
ALL = "fp64,fp32,tf32,fp16,bf16,fp8_e5m2,fp8_e4m3fn,fp8_e5m2fnuz,fp8_e4m3fnuz,fp8_e4m3,fp8_e3m4," \
      "fp8_e4m3b11fnuz,fp8_e8m0,fp6_e3m2,fp6_e2m3,fp4_e2m1,e6m9,e11m20,int64,uint64,int8,uint4,bool"
VALUES = ["70000", "0.1", "-0.1", "1/3", "0", "-0", "inf", "-inf", "1e400", "1e-400", "0x1.8p-1074",
          "65520", "464.0000000009313", "18446744073709551615", "-9223372036854775808", "500", "2.5",
          "9007199254740993", "5e-324", "1.7976931348623157e308", "3.3961775e38", "1e22", "1e23"]
POLICIES = [[], ["-r", "up"], ["-r", "stochastic", "--seed", "7"], ["--overflow", "saturate"],
            ["--via", "fp32"], ["--nan", "canonical"], ["--digits", "12"]]
# command line, exit code, schema
CASES = [(["--version", "--json"], 0, "dtinfo.version/1"),
         (["list", "--json"], 0, "dtinfo.list/1"),
         (["finfo", "--json"], 0, "dtinfo.finfo/1"),
         (["finfo", "e6m9", "e4m3b11fnuz", "binary8p3se", "binary8p1uf", "complex64", "--json"], 0,
          "dtinfo.finfo/1"),
         (["finfo", "e4m3", "--json"], 0, "dtinfo.finfo/1"),
         (["list", "--jsonl"], 0, "dtinfo.list/1"),
         (["finfo", "fp16", "e4m3", "--jsonl"], 0, "dtinfo.finfo/1"),
         (["iinfo", "--json"], 0, "dtinfo.iinfo/1"),
         (["iinfo", "--jsonl"], 0, "dtinfo.iinfo/1"),
         (["iinfo", "uint64", "--json"], 0, "dtinfo.iinfo/1"),
         (["bits", "0x4789", "--json"], 0, "dtinfo.bits/1"),
         (["bits", "0x7e", "--json"], 0, "dtinfo.bits/1"),
         (["bits", "0x80", "fp8_e4m3fnuz", "--json"], 0, "dtinfo.bits/1"),
         (["bits", "0.1", "bf16", "--json"], 0, "dtinfo.bits/1"),
         (["bits", "0x3ff0000000000001", "--json"], 0, "dtinfo.bits/1"),
         (["bits", "0b1010", "--json"], 0, "dtinfo.bits/1"),
         (["bits", "0 1111 110", "--jsonl"], 0, "dtinfo.bits/1"),
         (["bits", "1", "bf16", "e4m3,complex64", "--json"], 0, "dtinfo.bits/1"),
         (["cast", "70000", "bf16", "--json"], 0, "dtinfo.cast/1"),
         (["cast", "nan", "fp64,fp32,tf32,fp16,bf16,fp8_e5m2,fp8_e4m3fn,fp8_e8m0", "--json"], 0,
          "dtinfo.cast/1"),
         (["cast", "1+2j", "complex64", "--json"], 0, "dtinfo.cast/1"),
         (["cast", "500", "fp8_e4m3fn", "--stacks", "--json"], 0, "dtinfo.cast/1"),
         (["cast", "500", "fp8_e4m3fn,fp16,int8", "--like", "torch", "--json"], 0,
          "dtinfo.cast/1"),
         (["cast", "0.1", "all", "--json"], 0, "dtinfo.cast/1"),
         (["cast", "1", "2", "3", "fp16", "--json"], 0, "dtinfo.cast/1"),
         (["cast", "1", "2", "3", "fp16,int8", "--jsonl"], 0, "dtinfo.cast/1"),
         (["cast", "70000", "bf61", "--json"], 2, "dtinfo.error/1"),
         (["cast", "70000", "fp8", "--json"], 2, "dtinfo.error/1"),
         (["cast", "7,5", "bf16", "--json"], 2, "dtinfo.error/1"),
         (["cast", "--json"], 2, "dtinfo.error/1"),
         (["bench", "--list", "--json"], 0, "dtinfo.bench/1"),
         (["bench", "cast", "fp32:bf16,fp4_e2m1:fp8_e5m2", "--size", "4KiB", "--loss", "--samples",
           "--time", "0.01", "--json"], 0, "dtinfo.bench/1"),
         (["bench", "cast", "int8:fp32", "--size", "1KiB,2KiB", "--threads", "1,2", "--level", "all",
           "--time", "0.01", "--jsonl"], 0, "dtinfo.bench/1"),
         (["bench", "expsin", "--size", "10x10", "--with-alloc", "--time", "0.01", "--json"], 0,
          "dtinfo.bench_table/1"),
         (["bench", "dot", "--size", "1000", "--samples", "--time", "0.01", "--json"], 0,
          "dtinfo.bench_table/1"),
         (["bench", "matmul", "--size", "1x20x30", "--engine", "dtinfo", "--time", "0.01", "--json"], 0,
          "dtinfo.bench_table/1"),
         (["bench", "matmul", "--size", "32", "--dtype", "fp32,int8", "--time", "0.01", "--json"], 0,
          "dtinfo.bench_table/1"),
         (["bench", "quant", "--size", "20x64", "--dtype", "int8,nvfp4", "--time", "0.01", "--json"], 0,
          "dtinfo.bench_table/1"),
         (["bench", "copy", "--size", "64KiB", "--samples", "--time", "0.01", "--json"], 0,
          "dtinfo.bench_table/1"),
         (["bench", "copy", "--size", "64KiB,4MiB", "--threads", "2", "--cache", "cold", "--time", "0.01",
           "--jsonl"], 0, "dtinfo.bench_table/1"),
         (["bench", "cast", "fp32:bf61", "--json"], 2, "dtinfo.error/1"),
         (["devices", "--device", "cpu", "--json"], 0, "dtinfo.devices/1"),
         (["devices", "--ids", "--json"], 0, "dtinfo.devices/1"),
         (["devices", "--device", "mps", "--json"], 5, "dtinfo.error/1"),
         (["calc", "10k*10k - inf", "fp16,int8", "--json"], 0, "dtinfo.calc/1"),
         (["calc", "softmax([-20, 0, 5])", "fp16", "--steps", "--json"], 0, "dtinfo.calc/1"),
         (["calc", "[[1, 2], [3, 4]] / 0", "fp8_e4m3fn,uint4", "--accumulate", "fp32", "--jsonl"], 0, "dtinfo.calc/1"),
         (["calc", "1 +", "fp16", "--json"], 2, "dtinfo.error/1"),
         (["devices", "--arch", "--json"], 0, "dtinfo.arch/1"),
         (["devices", "m4", "hopper", "--supports", "bf16,e3m4", "--json"], 0, "dtinfo.arch/1"),
         (["devices", "--arch", "m44", "--json"], 2, "dtinfo.error/1"),
         (["mem", "7B", "--json"], 0, "dtinfo.mem/1"),
         (["mem", "5x40", "1.5e3", "e4m3,mxfp4,complex64,int4", "--fit", "300", "--json"], 1, "dtinfo.mem/1"),
         (["mem", "1B", "--train", "all", "--dtype", "bf16,nvfp4", "--fit", "10", "--jsonl"], 1,
          "dtinfo.mem/1"),
         (["mem", "7Q", "--json"], 2, "dtinfo.error/1"),
         (["quant", "-1", "0.1", "3", "nan", "uint8,int4", "--json"], 0, "dtinfo.quant/1"),
         (["quant", "1/3", "-1e39", "4", "int8", "--block", "2", "--like", "torch", "--jsonl"], 0,
          "dtinfo.quant/1"),
         (["quant", "0.1", "7", "-3e38", "fp8_e5m2,mxfp4,mxint8,nvfp4,nf4,bnb_fp4,q8_0,q4_0", "--json"], 0,
          "dtinfo.quant/1"),
         (["quant", "1", "inf", "mxfp4,nvfp4,nf4,q4_0", "--jsonl"], 0, "dtinfo.quant/1"),
         (["quant", "1", "e4m3", "--scale", "0.5", "--json"], 0, "dtinfo.quant/1"),
         (["quant", "1", "mxfp5", "--json"], 2, "dtinfo.error/1"),
         (["cats", "--json"], 2, "dtinfo.error/1"),
         (["cast", "70000", "bf16", "--ronud", "up", "--json"], 2, "dtinfo.error/1"),
         (["finfo", "int8", "--json"], 2, "dtinfo.error/1"),
         (["bits", "0x12345", "fp16", "--json"], 2, "dtinfo.error/1")]
MEASURED = ["bench", "dot", "--size", "1000", "--dtype", "fp32", "--threads", "1", "--time", "0.01"]
# the same, in the folder that make_files() and make_machines() fill; before.json is an earlier result of MEASURED
FILE_CASES = [(MEASURED + ["--compare", "before.json"], 0, "dtinfo.bench_table/1"),
              (["inspect", "model"], 0, "dtinfo.inspect/1"),
              (["inspect", "single/model.safetensors", "others/arrays.npz", "others/model.gguf", "--stats",
                "--histogram", "--each"], 0, "dtinfo.inspect/1"),
              (["inspect", "hostile/hostile.safetensors", "hostile/hostile.npz", "hostile/hostile.gguf",
                "--stats", "--sort", "name"], 0, "dtinfo.inspect/1"),
              (["inspect", "single/model.safetensors", "none", "--jsonl"], 3, "dtinfo.inspect/1"),
              (["inspect", "model", "others/model.gguf", "--stats", "--histogram", "--each", "--digest",
                "--jsonl"], 0, "dtinfo.inspect/1"),
              (["compare", "single/model.safetensors", "others/model.gguf", "--jsonl"], 1,
               "dtinfo.compare/1"),
              (["check", "single/model.safetensors", "others/weights.npy", "--no-nan", "--jsonl"], 0,
               "dtinfo.check/1"),
              (["inspect", "none", "others/weights.npy", "--only", "no"], 3, "dtinfo.inspect/1"),
              (["inspect", "others/weights.npy", "--from", "e4m3", "--shape", "112,2", "--stats",
                "--histogram"], 0, "dtinfo.inspect/1"),
              (["inspect", "others/weights.npy", "--from", "int8", "--stats"], 0, "dtinfo.inspect/1"),
              (["inspect", "others/weights.npy", "--from", "uint64", "--endian", "big", "--stats"], 0,
               "dtinfo.inspect/1"),
              (["inspect", "others/weights.npy", "--from", "complex64", "--stats"], 0, "dtinfo.inspect/1"),
              (["inspect", "none"], 3, "dtinfo.error/1"),
              (["quant", "model", "nvfp4", "--layout", "comfy", "--type", "*embed*=fp8_e4m3fn", "--keep", "*lm_head*", "-o",
                "for_comfy.safetensors", "--pad", "--force", "--allow-unmatched"], 0, "dtinfo.quant_file/1"),
              (["inspect", "for_comfy.safetensors", "--saturation"], 0, "dtinfo.inspect/1"),
              (["check", "for_comfy.safetensors"], 0, "dtinfo.check/1"),
              (["inspect", "model", "--grep", "("], 2, "dtinfo.error/1"),
              (["mem", "model", "others/model.gguf", "-v"], 0, "dtinfo.mem/1"),
              (["mem", "hostile/hostile.npz", "hostile/hostile.gguf", "bf16", "-v", "--keep", "x*"], 0,
               "dtinfo.mem/1"),
              (["mem", "model", "--train", "adam8bit", "--only", "*mlp*"], 0, "dtinfo.mem/1"),
              (["mem", "others/arrays.npz", "bf16", "--only", "none"], 2, "dtinfo.error/1"),
              (["mem", "none/none"], 3, "dtinfo.error/1"),
              (["compare", "model", "single/model.safetensors", "--atol", "0"], 0, "dtinfo.compare/1"),
              (["transcode", "comfy.safetensors", "--to", "modelopt", "-o", "t1.safetensors", "--only", "model.e.*",
                "--force"], 0,
               "dtinfo.transcode/1"),
              (["transcode", "gpt_oss.safetensors", "--to", "gpt-oss", "--dry-run"], 0,
               "dtinfo.transcode/1"),
              (["transcode", "fused", "--reconcile", "-o", "t2.safetensors", "--force"], 0, "dtinfo.transcode/1"),
              (["check", "fused", "--quantized", "--fused", "q_proj,o_proj"], 1, "dtinfo.check/1"),
              (["transcode", "gpt_oss.safetensors", "--to", "fp16", "--dry-run"], 0, "dtinfo.dequant/1"),
              (["transcode", "comfy.safetensors", "--to", "compressed-tensors", "--only", "model.e.*",
                "--require-lossless", "--dry-run"], 1, "dtinfo.error/1"),
              (["compare", "others/weights.npy", "others/arrays.npz", "--only", "data,half"], 1,
               "dtinfo.compare/1"),
              (["compare", "others/model.gguf", "others/arrays.npz", "--max-ulp", "0.5"], 1,
               "dtinfo.compare/1"),
              (["compare", "others/model.gguf", "others/model.gguf"], 0, "dtinfo.compare/1"),
              (["compare", "hostile/hostile.npz", "hostile/hostile.gguf"], 1, "dtinfo.compare/1"),
              (["compare", "others/weights.npy", "others/columns.npy", "--from", "e4m3"], 1,
               "dtinfo.compare/1"),
              (["compare", "model", "none"], 3, "dtinfo.error/1"),
              (["explain", "single/model.safetensors", "model"], 0, "dtinfo.explain/1"),
              (["explain", "model", "others/model.gguf", "--jsonl"], 1, "dtinfo.explain/1"),
              (["explain", "hostile/hostile.npz", "hostile/hostile.gguf"], 1, "dtinfo.explain/1"),
              (["explain", "model", "none"], 3, "dtinfo.error/1"),
              (["verify", "model", "model", "--recipe", "none"], 3, "dtinfo.error/1"),
              (["verify", "model", "model"], 2, "dtinfo.error/1"),
              (["verify", "model", "single/model.safetensors", "--recipe", "kept.json"], 0, "dtinfo.verify/1"),
              (["verify", "others/weights.npy", "others/weights.npy", "--recipe", "half.json"], 1, "dtinfo.verify/1"),
              (["verify", "model", "others/model.gguf", "--recipe", "bits.json"], 1, "dtinfo.verify/1"),
              (["devices", "--sysroot", "sapphire_rapids_two_sockets"], 0, "dtinfo.devices/1"),
              (["devices", "--sysroot", "neoverse_v2"], 0, "dtinfo.devices/1"),
              (["devices", "--sysroot", "none"], 3, "dtinfo.error/1"),
              (["check", "model", "others/model.gguf", "--valid", "--no-nan", "--max-abs", "0.1"], 1,
               "dtinfo.check/1"),
              (["check", "others/weights.npy", "--fits", "e4m3", "--shape", "6,4", "--ints"], 0,
               "dtinfo.check/1"),
              (["check", "hostile/hostile.npz", "--dtype", "bf16"], 1, "dtinfo.check/1"),
              (["check", "others/weights.npy", "--from", "fp4_e2m1", "--no-nan", "--jsonl"], 0,
               "dtinfo.check/1"),
              (["check", "model", "--only", "no"], 2, "dtinfo.error/1"),
              (["check", "model", "--as", "fp4_e2m1,fp16", "--max-to-zero", "0.5", "--max-error", "1e-3",
                "--min-sqnr", "20"], 1, "dtinfo.check/1"),
              (["inspect", "model", "others/model.gguf", "--as", "fp4_e2m1,int8"], 0, "dtinfo.inspect/1"),
              (["cast", "model", "fp16", "--dry-run", "--fail-on", "inexact"], 1, "dtinfo.cast_file/1"),
              (["cast", "model", "fp8_e4m3fn", "-o", "/dev/null"], 0, "dtinfo.cast_file/1"),
              (["cast", "model", "bf16", "--dry-run"], 0, "dtinfo.cast_file/1"),
              (["cast", "hostile/hostile.safetensors", "fp16", "--keep", "no,such", "--allow-unmatched",
                "--dry-run"], 0,
               "dtinfo.cast_file/1"),
              (["cast", "others/arrays.npz", "int4", "-o", "/dev/null", "--ints", "--packing", "low",
                "--select", "none"], 2, "dtinfo.error/1"),
              (["cast", "others/weights.npy", "fp4_e2m1", "-o", "/dev/null", "--as", "text"], 0,
               "dtinfo.cast_file/1"),
              (["cast", "others/weights.npy", "bf16", "-o", "/dev/null", "--as", "text", "--dry-run"], 0,
               "dtinfo.cast_file/1"),
              (["cast", "model", "bf16", "-o", "single/model.safetensors"], 4, "dtinfo.error/1"),
              (["quant", "model", "int8", "-o", "quantized/", "--affine", "--force"], 0, "dtinfo.quant_file/1"),
              (["quant", "model", "nvfp4", "--dry-run", "--pad"], 0, "dtinfo.quant_file/1"),
              (["quant", "others/weights.npy", "int4", "-o", "codes.npy", "--per", "channel", "--force"], 0,
               "dtinfo.quant_file/1"),
              (["quant", "hostile/hostile.safetensors", "int8", "-o", "h.safetensors", "--keep", "no",
                "--allow-unmatched", "--force"], 0,
               "dtinfo.quant_file/1"),
              (["quant", "model", "mxfp4", "-o", "quantized/"], 2, "dtinfo.error/1"),
              (["quant", "quantized", "bf16", "--dequant", "-o", "dequantized/", "--force"], 0, "dtinfo.dequant/1"),
              (["quant", "quantized", "fp32", "--dequant", "-o", "f.safetensors", "--force", "--keep", "*1*"], 0,
               "dtinfo.dequant/1"),
              (["quant", "others/weights.npy", "int8", "-o", "bytes.npy", "--force"], 0, "dtinfo.quant_file/1"),
              (["quant", "bytes.npy", "fp16", "--dequant", "--dry-run"], 0, "dtinfo.dequant/1"),
              (["quant", "model", "bf16", "--dequant", "--dry-run"], 3, "dtinfo.error/1")]
CASES += [(["cast", value, ALL] + policy + ["--json"], 0, "dtinfo.cast/1")
          for i, value in enumerate(VALUES)
          for policy in (POLICIES[i % len(POLICIES)::len(POLICIES)] if QUICK else POLICIES)]


def make_locale(name, folder):
    """Returns an environment with the locale, which is built here if the system lacks it."""
    known = subprocess.run(["locale", "-a"], stdout=subprocess.PIPE, universal_newlines=True).stdout \
        if shutil.which("locale") else ""
    if name.replace("UTF-8", "utf8") in known.split():
        return {"LC_ALL": name}
    if shutil.which("localedef"):
        done = subprocess.run(["localedef", "-i", name.split(".")[0], "-f", "UTF-8",
                               str(folder / name)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode == 0:
            return {"LC_ALL": name, "LOCPATH": str(folder)}
    print("note: %s cannot be made here; the variable is set all the same" % name)
    return {"LC_ALL": name}


def make_files(folder):
    """Writes files of tensors, as in tests/cli: model, model/model.safetensors.index.json, others/weights.npy, ..."""
    script = pathlib.Path(__file__).resolve().parent.parent / "makers/make_checkpoint.py"
    for name, recipe in (("kept", "kept"), ("half", "cast fp32 --via fp16"), ("bits", "cast fp32 --via bf16")):
        pathlib.Path(folder, name + ".json").write_text(json.dumps({"recipe": recipe}), encoding="utf-8")
    for name, option in (("model", []), ("single", ["--single"]), ("others", ["--others"]),
                         ("hostile", ["--hostile"])):
        subprocess.run([sys.executable, str(script), str(folder / name)] + option, check=True)
    subprocess.run([sys.executable, str(script.parent / "make_fused.py"), str(folder / "fused"), "modelopt", "1", "1"], check=True)
    for name in ("gpt_oss.safetensors", "comfy.safetensors"):
        shutil.copy(script.parent.parent / "data" / name, folder)


def make_machines(folder):
    """Unpacks recorded machines for devices --sysroot."""
    root = pathlib.Path(__file__).resolve().parents[2]
    for name in ("sapphire_rapids_two_sockets", "neoverse_v2"):
        subprocess.run([sys.executable, str(root / "tools/machine.py"), "unpack",
                        str(root / "tests/data/machines" / (name + ".txt")), str(folder / name)], check=True)


def run(program, words, environment, stdin=None, folder=None):
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("LC_", "LANG", "DTINFO_"))}
    return subprocess.run([program] + words, env=dict(kept, **environment), input=stdin, cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)


def documents(words, output, problems):
    """Returns the JSON documents of a run: one, or one per line with --jsonl."""
    texts = output.decode("utf-8").splitlines() if "--jsonl" in words else [output.decode("utf-8")]
    found = []
    for text in texts:
        try:
            found.append(json.loads(text, parse_constant=refuse))
        except ValueError as error:
            problems.append("not JSON: %s: %s" % (error, text[:200]))
    return found


def refuse(name):
    raise ValueError("bare " + name)


def recorded():
    """Yields the documents in golden output, by file."""
    for path in sorted(pathlib.Path(__file__).resolve().parents[1].glob("cli/*/*.stdout")):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        found = [json.loads(line, parse_constant=refuse) for line in lines
                 if line.startswith('{"schema":"dtinfo.') and line.endswith("}")]
        if found:
            yield "%s/%s" % (path.parent.name, path.name), found


def members(node, ret):
    """Adds the names of all members of a document to ret."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node if isinstance(node, list) else ()):
        if isinstance(node, dict):
            ret.add(key)
        members(value, ret)


def judge(checkers, found, wanted, seen):
    """Returns the problems of documents and the counts of their numbers and codes. Adds their members to seen, by schema."""
    problems, numbers, codes = [], 0, 0
    for document in found:
        name = document.get("schema")
        if name not in checkers or (wanted and name != wanted):
            problems.append("schema is %r, expected %r" % (name, wanted))
            continue
        members(document, seen.setdefault(name, set()))
        problems += checkers[name].problems(document)
        more = readback.walk(document)
        problems += more[0]
        numbers += more[1]
        codes += more[2]
    return problems, numbers, codes


def unseen(checkers, seen):
    """Yields a problem for each schema and member that no document has."""
    for name in sorted(checkers):
        if name not in seen:
            yield "no document has the schema %s" % name
    known = set().union(*(checker.members(one.schema) for one in checkers.values()))
    for member in sorted(known - set().union(*seen.values())):
        yield "no document has a member %s" % member


def main():
    program, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    checkers = {name: checker.Checker(schema) for name, schema in checker.load(folder).items()}
    passed = failed = numbers = codes = 0
    seen = {}
    stream = b"70000\n0.1\nbad\n-0\nnan\n1e999\n"
    cases = [(words, code, schema, None) for words, code, schema in CASES]
    cases += [(["cast", "-", "fp16", "--jsonl"], 3, None, stream),
              (["cast", "-", "fp16", "--json"], 3, "dtinfo.cast/1", stream)]
    # files and pipes; the bytes are codes of any dtype
    array = ["-o", "/dev/null", "--json"]
    cases += [(["cast", "-", "fp16", "--from", "text"] + array, 0, "dtinfo.cast_array/1",
               b"1 0.1,-70000 nan inf 1e-8"),
              (["cast", "-", "fp16", "--from", "fp32"] + array, 0, "dtinfo.cast_array/1", b""),
              (["cast", "-", "fp4_e2m1", "--from", "fp6_e3m2", "--packing", "high"] + array, 0,
               "dtinfo.cast_array/1", bytes(range(192))),
              (["cast", "-", "bf16", "--from", "fp64", "--as", "text", "-r", "stochastic"] + array, 0,
               "dtinfo.cast_array/1", bytes(range(256))),
              (["cast", "-", "fp8_e4m3", "--from", "e4m3", "--like", "ml_dtypes"] + array, 0,
               "dtinfo.cast_array/1", b"1234"),
              (["cast", "-", "bf16", "--from", "fp32"] + array, 3, "dtinfo.error/1", b"1234567")]
    cases += [(words + ["--json"] * ("--jsonl" not in words), code, schema, None)
              for words, code, schema in FILE_CASES]
    with tempfile.TemporaryDirectory() as scratch:
        foreign = make_locale("de_DE.UTF-8", pathlib.Path(scratch))
        make_files(pathlib.Path(scratch))
        make_machines(pathlib.Path(scratch))
        pathlib.Path(scratch, "before.json").write_bytes(run(program, MEASURED + ["--json"], {}).stdout)
        for words, code, wanted, stdin in cases:
            problems = []
            done = run(program, words, {"LC_ALL": "C"}, stdin, scratch)
            measured = words[0] in ("bench", "devices") and code == 0
            again = done if measured and QUICK else run(program, words, foreign, stdin, scratch)
            if done.returncode != code:
                problems.append("exit code %d, expected %d: %s" %
                                (done.returncode, code, done.stderr.decode("utf-8", "replace")))
            if again.stdout != done.stdout and not measured or again.stderr != done.stderr:
                problems.append("another answer under LC_ALL=%s" % foreign["LC_ALL"])
            found = documents(words, done.stdout, problems)
            if not found:
                problems.append("no document at all")
            more = judge(checkers, found, wanted, seen)
            problems += more[0]
            numbers += more[1]
            codes += more[2]
            if problems:
                failed += 1
                print("FAILED dtinfo %s\n  %s" % (" ".join(words), "\n  ".join(problems[:12])))
            else:
                passed += 1
    for name, found in recorded():
        problems = judge(checkers, found, None, seen)[0]
        passed, failed = passed + (not problems), failed + bool(problems)
        for problem in problems[:12]:
            print("FAILED %s: %s" % (name, problem))
    for problem in unseen(checkers, seen):
        failed += 1
        print("FAILED: " + problem)
    judges = "jsonschema and our own validator" if checker.jsonschema else "our own validator only"
    print("%d numbers read back, %d of them from their bits; validated by %s" %
          (numbers, codes, judges))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or codes < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
