#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dti_file_ask() and dti_file_convert() beside the program, whose options are their settings.

usage: test_requests.py PROBE DTINFO SCHEMAS

Each call runs in a folder of the library and, as a command line with --json, in an equal folder of the program: the
documents, the statuses and the new files must be the same, byte for byte. New files are then read with numpy and
ml_dtypes, which know nothing of either. Then errors, and that every option is a setting or says why not.
"""
import filecmp
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

try:
    import ml_dtypes
    import numpy as np
except ImportError:
    print("no numpy or no ml_dtypes: the documents and files of requests are not judged")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "schema"))
import checker  # noqa: E402

NORM = "*norm*"
# question or verb, paths (or input, what, output), settings
ASKED = [
    ("check", ["single/model.safetensors"], {}),
    ("check", ["single/model.safetensors"], {"valid": ""}),
    ("check", ["single/model.safetensors", "model"], {}),
    ("check", ["model"], {"no-nan": "", "no-inf": "", "fits": "fp16,bf16"}),
    ("check", ["model"], {"fits": "fp8_e4m3fn,fp16", "max-abs": "1e-3", "only": NORM}),
    ("check", ["single/model.safetensors"], {"dtype": "fp32,bf16:*embed*,bf16:lm_head*,int64:*ids"}),
    ("check", ["single/model.safetensors"], {"dtype": "bf16", "shape": "*norm*:32;lm_head.*:128,*"}),
    ("check", ["single/model.safetensors"], {"as": "bf16,fp8_e5m2", "max-to-zero": "0.01", "min-sqnr": "20"}),
    ("check", ["single/model.safetensors"], {"as": "int8", "max-error": "0.001", "ints": ""}),
    ("check", ["single/model.safetensors"], {"digest": "sha256:" + "0" * 64}),
    ("check", ["files/model.gguf"], {"no-nan": "", "max-memory": "64KiB"}),
    ("check", ["files/arrays.npz"], {"fits": "fp16"}),
    ("check", ["files/weights.npy"], {"assume": "bf16", "max-abs": "100"}),
    ("check", ["broken.safetensors"], {}),
    ("check", ["single/model.safetensors", "files/weights.npy"], {"policy": "policy.json", "no-inf": ""}),
    ("check", ["raw.bin", "files/weights.npy"], {"policy": "policy.json"}),
    ("check", ["single/model.safetensors"], {"dtype": "bf16", "baseline": "known.json"}),
    ("check", ["q/mxfp4.safetensors"], {"quantized": "", "no-nan": ""}),
    ("check", ["q/mxfp4.safetensors"], {"raw": "", "dtype": "fp32"}),
    ("check", ["q/nvfp4.safetensors"], {"quantized": "", "fused": "a,b"}),
    ("check", ["pickles.bin"], {"pickle": ""}),
    ("check", ["raw.bin"], {"from": "fp16", "endian": "big", "no-nan": ""}),
    ("inspect", ["single/model.safetensors"], {}),
    ("inspect", ["model"], {"stats": "", "only": NORM}),
    ("inspect", ["model"], {"sort": "size", "reverse": "", "limit": "5", "as": "bf16,fp8_e4m3fn"}),
    ("inspect", ["single/model.safetensors"], {"histogram": "", "each": "", "grep": "layers[.]0[.].*proj"}),
    ("inspect", ["single/model.safetensors"], {"digest": ""}),
    ("inspect", ["files/model.gguf", "files/arrays.npz", "files/weights.npy"], {}),
    ("inspect", ["files/model.gguf", "gone.npy"], {}),
    ("inspect", ["q/mxfp4.safetensors"], {"raw": ""}),
    ("inspect", ["q/nvfp4.safetensors"], {"saturation": "", "stats": "", "like": "vllm"}),
    ("inspect", ["q/int4.safetensors"], {"saturation": ""}),
    ("inspect", ["raw.bin"], {"from": "bf16", "shape": "32,16", "stats": ""}),
    ("inspect", ["raw.bin"], {"from": "fp4", "packing": "high", "stats": ""}),
    ("inspect", ["trailing.safetensors"], {"lenient": ""}),
    ("compare", ["single/model.safetensors", "model"], {}),
    ("compare", ["single/model.safetensors", "half.safetensors"], {}),
    ("compare", ["single/model.safetensors", "half.safetensors"], {"rtol": "0.01", "atol": "1e-9"}),
    ("compare", ["single/model.safetensors", "half.safetensors"], {"max-ulp": "1", "only": NORM}),
    ("compare", ["single/model.safetensors", "half.safetensors"], {"bitwise": ""}),
    ("compare", ["single/model.safetensors", "q/mxfp4.safetensors"], {}),
    ("compare", ["q/nvfp4.safetensors", "q/mxfp4.safetensors"], {"raw": ""}),
    ("compare", ["single/model.safetensors", "norms.safetensors"], {"ignore-missing": ""}),
    ("compare", ["single/model.safetensors", "norms.safetensors"], {}),
    ("compare", ["files/weights.npy", "files/columns.npy"], {}),
    ("explain", ["single/model.safetensors", "model"], {}),
    ("explain", ["single/model.safetensors", "half.safetensors"], {}),
    ("explain", ["single/model.safetensors", "q/mxfp4.safetensors"], {}),
    ("explain", ["single/model.safetensors", "files/arrays.npz"], {}),
    ("explain", ["q/nvfp4.safetensors", "q/bf16.safetensors"], {"max-memory": "1MiB"}),
]
OUT = "out.safetensors"
CONVERTED = [
    ("cast", ["single/model.safetensors", "bf16", OUT], {}),
    ("cast", ["single/model.safetensors", "fp8_e4m3fn", OUT], {"keep": NORM, "overflow": "saturate", "round": "zero"}),
    ("cast", ["single/model.safetensors", "fp16", OUT], {"round": "stochastic", "seed": "7", "select": "*proj*"}),
    ("cast", ["single/model.safetensors", "bf16", OUT], {"via": "fp16", "cast-only": "*proj*", "ints": ""}),
    ("cast", ["single/model.safetensors", "fp8_e5m2", OUT], {"like": "torch"}),
    ("cast", ["single/model.safetensors", "bf16", OUT], {"fail-on": "inexact,overflow"}),
    ("cast", ["single/model.safetensors", "bf16", None], {"dry-run": ""}),
    ("cast", ["model", "fp16", "out/"], {"keep": NORM}),
    ("cast", ["model", "fp16", "out/"], {"part": "1/2", "no-copy": ""}),
    ("cast", ["files/arrays.npz", "fp16", "out.npz"], {"ints": ""}),
    ("cast", ["files/weights.npy", "bf16", "out.npy"], {"force": ""}),
    ("cast", ["files/model.gguf", "bf16", "out.gguf"], {"set": "general.name=other"}),
    ("cast", ["raw.bin", "bf16", OUT], {"from": "fp16", "shape": "32x16", "endian": "big"}),
    ("cast", ["single/model.safetensors", "bf16", OUT], {"keep": "none", "allow-unmatched": ""}),
    ("quant", ["single/model.safetensors", "int8", OUT], {"keep": NORM}),
    ("quant", ["single/model.safetensors", "mxfp4", OUT], {"pad": "", "mx-scale": "rceil", "quant-only": "*proj*"}),
    ("quant", ["single/model.safetensors", "nvfp4", OUT], {"pad": "", "layout": "modelopt", "keep": NORM + ",*down*"}),
    ("quant", ["single/model.safetensors", "int4", OUT], {"block": "8", "affine": "", "keep": NORM}),
    ("quant", ["single/model.safetensors", "int8", OUT],
     {"per": "channel", "keep": NORM, "type": "*mlp*=fp8_e4m3fn", "division": "exact"}),
    ("quant", ["single/model.safetensors", "mxfp4", None], {"dry-run": "", "pad": ""}),
    ("quant", ["files/model.gguf", "q8_0", "out.gguf"], {}),
    ("quant", ["single/model.safetensors", "int8", OUT], {"fail-on": "inexact", "keep": NORM}),
    ("quant", ["model", "nvfp4", "out/"], {"keep": NORM + ",*down*", "layout": "modelopt"}),
    ("dequant", ["q/mxfp4.safetensors", "bf16", OUT], {}),
    ("dequant", ["q/nvfp4.safetensors", "fp32", OUT], {"like": "vllm"}),
    ("dequant", ["q/int4.safetensors", "fp16", OUT], {"quant-only": "*mlp*"}),
    ("dequant", ["files/model.gguf", "bf16", OUT], {}),
    ("transcode", ["q/mxfp4.safetensors", "modelopt", OUT], {"dtype": "nvfp4"}),
    ("transcode", ["q/nvfp4.safetensors", "compressed-tensors", OUT], {"require-lossless": ""}),
    ("transcode", ["q/nvfp4.safetensors", "bf16", OUT], {}),
    ("transcode", ["q/mxfp4.safetensors", "mlx", OUT], {"mode": "mxfp4"}),
    ("transcode", ["q/nvfp4.safetensors", None, OUT], {"reconcile": ""}),
]
# Calls that fail, the status, the remedy, and what the text has.
REFUSED = [
    (["ask", "inspekt", "single/model.safetensors"], {}, "unknown_option", "none", "the questions are"),
    (["ask", "check"], {}, "usage", "none", "check takes the paths of files; got 0"),
    (["ask", "compare", "a"], {}, "usage", "none", "the paths of two files; got 1"),
    (["ask", "check", "-"], {}, "usage", "none", "not standard input"),
    (["ask", "check", "single/model.safetensors"], {"no-nam": ""}, "unknown_option", "none", "check has no setting 'no-nam'"),
    (["ask", "check", "single/model.safetensors"], {"json": ""}, "unknown_option", "none", "check has no setting 'json'"),
    (["ask", "check", "single/model.safetensors"], {"color": "always"}, "unknown_option", "none", "no setting 'color'"),
    (["ask", "check", "single/model.safetensors"], {"threads": "2"}, "unknown_option", "none",
     "threads is not a setting: the context has it"),
    (["ask", "compare", "a", "b"], {"progress": "never"}, "unknown_option", "none", "progress is not a setting"),
    (["ask", "inspect", "a"], {"tree": ""}, "unknown_option", "none", "tree is not a setting"),
    (["ask", "inspect", "single/model.safetensors"], {"sort": "siez"}, "usage", "none", "sort takes one of file, name"),
    (["ask", "inspect", "single/model.safetensors"], {"limit": "x"}, "usage", "none", "limit takes a number"),
    (["ask", "inspect", "single/model.safetensors"], {"each": ""}, "usage", "none", "each needs histogram; give both"),
    (["ask", "check", "single/model.safetensors"], {"no-nan": "yes"}, "usage", "none", "no-nan takes no value"),
    (["ask", "check", "single/model.safetensors"], {"fits": "bf61"}, "unknown_dtype", "none", "unknown dtype 'bf61'"),
    (["ask", "check", "single/model.safetensors"], {"only": "nothing*"}, "usage", "none", "only 'nothing*' matches no"),
    (["ask", "check", "single/model.safetensors"], {"max-error": "1"}, "usage", "none", "max-error is about a cast"),
    (["ask", "inspect", "gone.safetensors"], {}, "bad_input", "none", "'gone.safetensors'"),
    (["ask", "compare", "single/model.safetensors", "gone.npy"], {}, "bad_input", "none", "gone.npy"),
    (["ask", "compare", "single/model.safetensors", "model"], {"bitwise": "", "atol": "1"}, "usage", "none",
     "bitwise allows no tolerance; leave out atol and rtol"),
    (["convert", "kast", "a", "bf16", "b"], {}, "unknown_option", "none", "the verbs are"),
    (["convert", "cast", "single/model.safetensors", "null", "b.npz"], {}, "usage", "none", "the dtype to cast to is missing"),
    (["convert", "cast", "single/model.safetensors", "bf61", OUT], {}, "unknown_dtype", "none", "unknown dtype"),
    (["convert", "cast", "single/model.safetensors", "bf16", "null"], {}, "usage", "none", "missing output"),
    (["convert", "cast", "single/model.safetensors", "bf16", "x.txt"], {}, "usage", "none", "no known extension"),
    (["convert", "cast", "single/model.safetensors", "bf16", "-"], {}, "usage", "none", "the output is a file"),
    (["convert", "cast", "-", "bf16", OUT], {}, "usage", "none", "the input is a file"),
    (["convert", "cast", "gone.safetensors", "bf16", OUT], {}, "bad_input", "none", "gone.safetensors"),
    (["convert", "cast", "single/model.safetensors", "bf16", "half.safetensors"], {}, "write_failed", "replace",
     "'half.safetensors' exists"),
    (["convert", "cast", "raw.bin", "bf16", "out.bin"], {"from": "fp16"}, "usage", "none", "cast them as an array"),
    (["convert", "cast", "files/weights.npy", "bf16", OUT], {"as": "text"}, "unknown_option", "none", "command line"),
    (["convert", "cast", "single/model.safetensors", "bf16", OUT], {"round": "up", "like": "torch"}, "usage", "none",
     "like sets all policies; leave out round"),
    (["convert", "cast", "single/model.safetensors", "bf16", OUT], {"device": "cuda"}, "unknown_option", "none",
     "device is not a setting: the context has it"),
    (["convert", "cast", "single/model.safetensors", "bf16", OUT], {"output": "x"}, "unknown_option", "none",
     "output is not a setting: the output is a parameter"),
    (["convert", "cast", "single/model.safetensors", "bf16", OUT], {"keep": "none*"}, "usage", "allow_keep",
     "'none*' matches no tensor"),
    (["convert", "quant", "single/model.safetensors", "int8", OUT], {"scale": "1", "min": "0"}, "usage", "none",
     "scale and a range exclude each other; leave out min"),
    (["convert", "dequant", "single/model.safetensors", "bf16", OUT], {}, "bad_input", "none", "no quantized tensors found"),
    (["convert", "transcode", "q/mxfp4.safetensors", "null", OUT], {}, "usage", "none", "the layout is missing"),
    (["convert", "transcode", "q/mxfp4.safetensors", "modelopt2", OUT], {}, "usage", "none", "to takes one of"),
]
STATUS = {0: {"ok"}, 1: {"answer_no"}}
COMMANDS = {"cast": "cast", "quant": "quant", "dequant": "quant", "transcode": "transcode"}


class Judge:
    def __init__(self, probe, program, schemas):
        self.probe, self.program = str(pathlib.Path(probe).resolve()), str(pathlib.Path(program).resolve())
        self.schemas = {name: checker.Checker(schema) for name, schema in checker.load(schemas).items()}
        self.problems, self.checks, self.same = [], 0, 0

    def check(self, good, *words):
        self.checks += 1
        if not good:
            self.problems.append(" ".join(str(word) for word in words))

    def library(self, words, settings, folder, **environment):
        spelled = [name if value == "" else f"{name}={value}" for name, value in settings.items()]
        done = subprocess.run([self.probe, *(word or "null" for word in words), "--", *spelled], cwd=folder,
                              capture_output=True, text=True, env=dict(os.environ, **environment))
        fields = done.stderr.rstrip("\n").split("\t")
        if done.returncode != 0 or len(fields) != 5:
            self.check(False, words, settings, "the probe ended with", done.returncode, done.stderr[:300])
            fields = ["?"] * 5
        return done.stdout, dict(zip(("status", "remedy", "argument", "document", "text"), fields))

    def line(self, words, settings, folder):
        options = [word for name, value in settings.items() for word in ([f"--{name}"] if value == "" else [f"--{name}", value])]
        return subprocess.run([self.program, *words, *options, "--json"], cwd=folder, capture_output=True, text=True)


def without_advice(value):
    """A document without the texts of warnings, which have the asker's advice: no option is named to a library's caller."""
    if isinstance(value, list):
        return [without_advice(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: "" if key == "message" and "code" in value else without_advice(item) for key, item in value.items()}


def warnings_of(value):
    inner = value if isinstance(value, list) else value.values() if isinstance(value, dict) else []
    own = [value] if isinstance(value, dict) and "code" in value and "message" in value else []
    return own + [warning for item in inner for warning in warnings_of(item)]


def names_option(text):
    """Whether a text names an option outside of quotes."""
    return re.search(r"(?<![\w-])--[a-z]|(?<![\w-])-[a-z](?![\w-])", re.sub(r"'[^']*'", "''", text))


def compare(judge, words, settings, made, line):
    """The library's answer beside the program's."""
    document, outcome = made
    title = (words, settings)
    if line.stdout.startswith('{"schema":"dtinfo.error'):
        error = json.loads(line.stdout)["error"]
        judge.check(outcome["status"] == error["code"] and outcome["document"] == "none", title, outcome, error)
        return
    known = STATUS.get(line.returncode)
    judge.check(outcome["document"] == "document", title, "has no document:", outcome)
    judge.check((outcome["status"] in known) if known else outcome["status"] not in ("ok", "answer_no"), title, outcome,
                "the program ended with", line.returncode)
    if outcome["document"] != "document":
        return
    judge.same += document == line.stdout
    if document != line.stdout:
        judge.check(without_advice(json.loads(document)) == without_advice(json.loads(line.stdout)), title, "\n",
                    document[:2000], "\n", line.stdout[:2000])
        judge.check(warnings_of(json.loads(document)), title, "differs without a warning")
    parsed = json.loads(document)
    problems = judge.schemas[parsed["schema"]].problems(parsed)
    judge.check(not problems, title, problems[:3])
    for warning in warnings_of(parsed):
        judge.check(not names_option(warning["message"]), title, warning["message"])


def ask_all(judge, folders):
    for question, paths, settings in ASKED:
        made = judge.library(["ask", question, *paths], settings, folders[0])
        compare(judge, (question, *paths), settings, made, judge.line([question, *paths], settings, folders[1]))


def take(folder, output):
    """Moves new files out of the way."""
    path = folder / output.rstrip("/")
    if not path.exists():
        return None
    kept = folder / "taken"
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir()
    shutil.move(str(path), str(kept / "new"))
    return kept / "new"


def equal_trees(a, b):
    if a is None or b is None:
        return a is b
    if a.is_file():
        return b.is_file() and filecmp.cmp(a, b, shallow=False)
    names = sorted(path.relative_to(a) for path in a.rglob("*"))
    return names == sorted(path.relative_to(b) for path in b.rglob("*")) and all(
        (a / name).is_dir() or filecmp.cmp(a / name, b / name, shallow=False) for name in names)


def convert_all(judge, folders):
    for verb, (source, what, output), settings in CONVERTED:
        made = judge.library(["convert", verb, source, what, output], settings, folders[0])
        own = take(folders[0], output or OUT)
        words = [COMMANDS[verb], source]
        words += ["--to", what] if verb == "transcode" and what else [] if verb == "transcode" else [what]
        words += ["--dequant"] if verb == "dequant" else []
        words += ["-o", output] if output else []
        line = judge.line(words, settings, folders[1])
        theirs = take(folders[1], output or OUT)
        compare(judge, (verb, source, what, output), settings, made, line)
        judge.check(equal_trees(own, theirs), verb, source, what, settings, "writes other bytes")
        judge.check((own is not None) == (output is not None), verb, source, what, settings, "new files", own, made[1])
        if verb == "cast" and output == OUT:
            judge.library(["convert", verb, source, what, output], settings, folders[0], NO_DOCUMENT="1")
            judge.check(equal_trees(take(folders[0], OUT), theirs), verb, settings, "without a document")


def refuse_all(judge, folder):
    kept = (folder / "half.safetensors").read_bytes()
    for words, settings, status, remedy, text in REFUSED:
        document, outcome = judge.library(words, settings, folder)
        judge.check(outcome["status"] == status and outcome["remedy"] == remedy and text in outcome["text"], words, settings,
                    outcome)
        judge.check(document == "" and not names_option(outcome["text"]), words, outcome["text"])
        judge.check(not (folder / OUT).exists(), words, "left a file")
    judge.check((folder / "half.safetensors").read_bytes() == kept, "an existing file changed")


def settings_all(judge, folder):
    """Every option of a command is a setting, or says what is there in its place."""
    facts = json.loads(subprocess.run([judge.program, "__introspect"], capture_output=True, text=True, check=True).stdout)
    for command in facts["commands"]:
        name = command["name"]
        if name in ("cast", "quant", "transcode"):
            words = ["convert", name, "gone.safetensors", "bf16", OUT]
        elif name in ("check", "inspect", "compare", "explain"):
            words = ["ask", name, "gone", "gone"][:3 + (name in ("compare", "explain"))]
        else:
            continue
        for option in command["options"]:
            _, outcome = judge.library(words, {option["long"]: "?"}, folder)
            judge.check("has no setting" not in outcome["text"], name, option["long"], outcome)


def calls_all(judge, folder):
    """Several threads at once, and NULL where it may stand."""
    (folder / "threads").mkdir()
    for words in (["threads", "single/model.safetensors", "threads"], ["nulls", "single/model.safetensors"]):
        code = subprocess.run([judge.probe, *words], cwd=folder, timeout=120).returncode
        judge.check(code == 0, words, "ended with", code)
    judge.library(["convert", "cast", "single/model.safetensors", "bf16", OUT], {"keep": NORM}, folder)
    one = take(folder, OUT)
    made = sorted((folder / "threads").iterdir())
    judge.check(len(made) == 4 and all(filecmp.cmp(one, path, shallow=False) for path in made), "threads", made)


def divide_all(judge, folder):
    """Parts of a run by the program and by the library belong together."""
    line = lambda *words: subprocess.run([judge.program, "cast", "model", "fp16", *words, "-q"], cwd=folder, check=True)
    line("-o", "whole/")
    line("-o", "parts/", "--part", "1/2")
    _, early = judge.library(["convert", "cast", "model", "fp16", "parts/"], {"finish": ""}, folder)
    judge.check(early["status"] == "answer_no" and early["document"] == "none" and "missing" in early["text"], early)
    for settings in ({"part": "2/2"}, {"finish": "", "check-parts": ""}):
        _, outcome = judge.library(["convert", "cast", "model", "fp16", "parts/"], settings, folder)
        judge.check(outcome["status"] == "ok" and outcome["document"] == "document", settings, outcome)
    names = sorted(path.name for path in (folder / "whole").iterdir())
    judge.check(all(filecmp.cmp(folder / "whole" / name, folder / "parts" / name, shallow=False) for name in names), names)


def thread_all(judge, folder):
    """A context's limit of threads holds, and the bytes do not depend on it."""
    np.save(folder / "large.npy", np.random.default_rng(1).standard_normal((1 << 24,)).astype("<f4"))
    used, made = [], []
    for threads in "12":
        document, outcome = judge.library(["convert", "cast", "large.npy", "bf16", "out.npy"], {}, folder, THREADS=threads)
        judge.check(outcome["status"] == "ok", outcome)
        used.append(json.loads(document)["host"]["threads"])
        made.append((folder / "out.npy").read_bytes())
        (folder / "out.npy").unlink()
    document, outcome = judge.library(["convert", "cast", "raw.bin", "bf16", "out.npy"], {"from": "fp16"}, folder, DEVICE="auto")
    judge.check(outcome["status"] == "ok" and json.loads(document)["device"] in ("cpu", "cuda:0"), "auto", outcome)
    judge.check(used[0] == 1 and used[1] <= 2 and made[0] == made[1], "threads", used)


# Readers that know nothing of the project.

def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    head = json.loads(data[8:8 + size])
    return {name: (entry["dtype"], entry["shape"], data[8 + size + entry["data_offsets"][0]:8 + size + entry["data_offsets"][1]])
            for name, entry in head.items() if name != "__metadata__"}


def floats(entry):
    return np.frombuffer(entry[2], "<f4").reshape(entry[1])


def judge_numbers(judge, folder):
    source = read_safetensors(folder / "single/model.safetensors")
    judge.library(["convert", "cast", "single/model.safetensors", "bf16", OUT], {}, folder)
    cast = read_safetensors(take(folder, OUT))
    for name, entry in source.items():
        if entry[0] == "F32":
            judge.check(cast[name][0] == "BF16" and cast[name][2] == floats(entry).astype(ml_dtypes.bfloat16).tobytes(), name)
        else:
            judge.check(cast[name] == entry, name, "is not kept")
    judge.library(["convert", "quant", "single/model.safetensors", "int8", OUT], {"keep": NORM}, folder)
    codes = read_safetensors(folder / OUT)
    judge.library(["convert", "dequant", OUT, "fp32", "back.safetensors"], {}, folder)
    back = read_safetensors(take(folder, "back.safetensors"))
    for name, entry in source.items():
        if entry[0] != "F32" or "norm" in name:
            continue
        numbers = floats(entry)
        scale = np.float32(np.abs(numbers).max()) / np.float32(127)
        expected = np.clip(np.rint(numbers / scale), -128, 127).astype(np.int8)
        judge.check(codes[name][2] == expected.tobytes(), name, "int8 codes")
        judge.check(floats(back[name]).tobytes() == (expected.astype(np.float32) * scale).tobytes(), name, "int8 numbers")
    take(folder, OUT)
    judge.library(["convert", "quant", "single/model.safetensors", "mxfp4", OUT], {"quant-only": "*q_proj*"}, folder)
    judge.library(["convert", "transcode", OUT, "fp32", "back.safetensors"], {}, folder)
    parts, back = read_safetensors(take(folder, OUT)), read_safetensors(take(folder, "back.safetensors"))
    for name, entry in source.items():
        if "q_proj" not in name:
            continue
        amax = np.abs(floats(entry)).reshape(-1, 32).max(axis=1).astype(np.float64)
        scale = np.exp2(np.floor(np.log2(amax)) - 2)[:, None]
        unit = floats(entry).reshape(-1, 32).astype(np.float64) / scale
        expected = np.clip(unit, -6, 6).astype(np.float32).astype(ml_dtypes.float4_e2m1fn).astype(np.float64) * scale
        judge.check(floats(back[name]).tobytes() == expected.astype(np.float32).tobytes(), name, "mxfp4", list(parts)[:5])


def make_files(folder, program):
    makers = HERE.parent / "makers"
    for words in (["single", "--single"], ["model"], ["files", "--others"]):
        subprocess.run([sys.executable, str(makers / "make_checkpoint.py"), *words], cwd=folder, check=True)
    data = (folder / "single/model.safetensors").read_bytes()
    (folder / "broken.safetensors").write_bytes(data[:-3])
    (folder / "trailing.safetensors").write_bytes(data + b"more")
    (folder / "pickles.bin").write_bytes(b"\x80\x02cos\nsystem\nq\x00X\x02\x00\x00\x00lsq\x01\x85q\x02Rq\x03.")
    (folder / "policy.json").write_text('{"rules": [{"files": "single/*", "dtype": "fp32"}, {"files": "*.npy", "max-abs": 9}]}')
    known = subprocess.run([program, "check", "single/model.safetensors", "--dtype", "bf16", "--only", NORM, "--json"], cwd=folder,
                           stdout=subprocess.PIPE, check=False).stdout
    (folder / "known.json").write_bytes(known)
    numbers = np.random.default_rng(5).standard_normal(512).astype(">f2")
    (folder / "raw.bin").write_bytes(numbers.tobytes())
    (folder / "q").mkdir()
    run = lambda *words: subprocess.run([program, *words, "-q"], cwd=folder, check=True, stderr=subprocess.DEVNULL)
    source = "single/model.safetensors"
    run("cast", source, "fp16", "-o", "half.safetensors")
    run("cast", source, "fp32", "--select", NORM, "-o", "norms.safetensors")
    run("quant", source, "mxfp4", "--quant-only", "*proj*", "--keep", "*down*", "-o", "q/mxfp4.safetensors")
    run("quant", source, "nvfp4", "--quant-only", "*proj*", "--keep", "*down*", "-o", "q/nvfp4.safetensors")
    run("quant", source, "int4", "--block", "8", "--keep", NORM, "-o", "q/int4.safetensors")
    run("quant", "q/nvfp4.safetensors", "bf16", "--dequant", "-o", "q/bf16.safetensors")


def main():
    judge = Judge(*sys.argv[1:4])
    with tempfile.TemporaryDirectory() as temporary:
        folders = [pathlib.Path(temporary) / name for name in ("library", "program")]
        folders[0].mkdir()
        make_files(folders[0], judge.program)
        shutil.copytree(folders[0], folders[1])
        ask_all(judge, folders)
        convert_all(judge, folders)
        refuse_all(judge, folders[0])
        settings_all(judge, folders[0])
        calls_all(judge, folders[0])
        divide_all(judge, folders[0])
        thread_all(judge, folders[0])
        judge_numbers(judge, folders[0])
    for problem in judge.problems[:20]:
        print(problem)
    print(f"requests: {len(ASKED)} questions, {len(CONVERTED)} conversions, {len(REFUSED)} refused; {judge.same} documents "
          f"are the program's bytes; {judge.checks} checks, {len(judge.problems)} problems")
    return 1 if judge.problems else 0


if __name__ == "__main__":
    sys.exit(main())
