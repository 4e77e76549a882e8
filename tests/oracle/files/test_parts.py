#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All commands treat an incomplete quantized tensor as not quantized: for every readable layout x every part, the part
is removed, gets another dtype or shape, moves to another shard, or is added although the layout does not have it.
check --quantized, quant --dequant, transcode, inspect, inspect --stats, compare and calc must agree: a finding, a
refusal that names it, a note, or none of these from any of them. The expected messages are rows of a reviewed table.

usage: test_parts.py DTINFO FOLDER [--update]     FOLDER: tests/data, with the table quant_parts.tsv
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from harness import Tally, have

if not have("numpy"):
    print("skipped: needs numpy")
    sys.exit(77)
import part_files
from tensor_files import read_file, write_file

PROGRAM, DATA = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
TABLE = DATA / "quant_parts.tsv"
TALLY = Tally()
HEAD = ("layout", "part", "change", "exits", "findings", "said")
READERS = ("dequant", "transcode", "stats", "compare", "calc")


def run(*words):
    done = subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def write(base, tensors, apart=None):
    """apart: the name of a tensor stored in its own shard."""
    shutil.rmtree("case", ignore_errors=True)
    os.mkdir("case")
    for name, content in base.files.items():
        pathlib.Path("case", name).write_text(json.dumps(content))
    if apart is None:
        return write_file("case/model.safetensors", tensors, base.metadata)
    files = {"model-00001-of-00002.safetensors": {n: t for n, t in tensors.items() if n != apart},
             "model-00002-of-00002.safetensors": {apart: tensors[apart]}}
    for name, some in files.items():
        write_file("case/" + name, some, base.metadata)
    index = {"metadata": {"total_size": sum(len(t[2]) for t in tensors.values())},
             "weight_map": {n: name for name, some in files.items() for n in some}}
    return pathlib.Path("case/model.safetensors.index.json").write_text(json.dumps(index))


def numbers():
    """The dequantized numbers, or None."""
    found = {}
    for path in sorted(pathlib.Path("out").glob("*.safetensors")):
        found.update(read_file(path))
    return found


def sentence(text):
    """The first line on standard error, without the program's name, the path and the remedy."""
    line = text.split("\n", 1)[0].split(": ", 1)[-1]
    return line.split("; ")[0].replace("'model.safetensors': ", "").replace("'case/model.safetensors': ", "")


def look(base, what):
    """The output of all commands for ./case: the row's last three columns."""
    shutil.rmtree("out", ignore_errors=True)
    code, text, error = run("check", "case", "--quantized", "--json")
    rows = {a["name"]: a for a in json.loads(text)["files"][0]["assertions"]} if code <= 1 else {}
    found = [(f["rule"], f["tensor"] or "") for f in rows["quantized"]["failures"]] if code <= 1 else []
    done = {
        "dequant": run("quant", "case", "fp32", "--dequant", "-o", "out", "-q"),
        "transcode": run("transcode", "case", "--to", "bf16", "-o", "new", "-q", "--force"),
        "inspect": run("inspect", "case"),
        "stats": run("inspect", "case", "--stats"),
        "compare": run("compare", "case", "case"),
        "calc": run("calc", "sum(@case:%s)" % base.numbers, "fp32", "-q"),
    }
    shutil.rmtree("new", ignore_errors=True)
    exits = " ".join(str(c) for c in (code, *(done[k][0] for k in ("dequant", "transcode", "inspect", "stats", "compare", "calc"))))
    said = sentence(done["dequant"][2]) if done["dequant"][0] else ""
    said = said.rstrip()
    whole = code == 0 or all(rule == "ambiguous" for rule, _ in found)     # the user must resolve the ambiguity
    TALLY.check(what + ": check", code in (0, 1), True)
    TALLY.check(what + ": inspect", done["inspect"][0], 0)
    for name in READERS:
        status, _, error = done[name]
        if whole and name in ("dequant", "transcode") and status == 3:
            TALLY.check("%s: %s has nothing to do" % (what, name), bool(found) or "no quantized tensors" in error, True)
            continue
        TALLY.check("%s: %s is refused" % (what, name), (status, error.count("\n")), (0, error.count("\n")) if whole else (3, 1))
        if not whole and status == 3:
            TALLY.check("%s: %s says why" % (what, name), (sentence(error), "; " in error), (said, True))
    TALLY.check(what + ": inspect has a note", "quantized tensor" in done["inspect"][1] and "read as stored" in done["inspect"][1], code != 0)
    return exits, ", ".join("%s %s" % (rule, tensor[len(base.stem):] if tensor.startswith(base.stem) else tensor) for rule, tensor in found) or "-", said or "-"


def plain():
    """Tensors that deliberately have no scales stay as they are for all commands."""
    for name, (tensors, files) in part_files.plain_files().items():
        write(part_files.Base(tensors, files), tensors)
        for command in (("check", "case", "--quantized"), ("inspect", "case", "--stats"), ("compare", "case", "case"),
                        *(("calc", "sum(@case:%s)" % n, "fp32", "-q") for n in tensors)):
            code, text, error = run(*command)
            entry = command[0] == "check" and "not_covered" not in text    # other messages are not about parts
            TALLY.check("%s: %s" % (name, command[0]), (code, error, "part" in text and entry), (0, "", False))
        code, _, error = run("quant", "case", "fp32", "--dequant", "-o", "out", "-q", "--force")
        scaled = any("scale" in n for n in tensors)
        TALLY.check(name + ": dequant", (code, "no quantized tensors" in error), (0, False) if scaled else (3, True))
        if scaled:
            got = numbers()
            TALLY.check(name + ": stays", [n for n, t in tensors.items() if n in got and "weight_scale" not in n and "up_proj" not in n
                                           and t[0] == "F8_E4M3" and got[n][0] != "F32"], [])
        shutil.rmtree("out", ignore_errors=True)
    TALLY.part("deliberately without scales")


def left_out():
    """--keep and --only skip a broken tensor; --raw reads the stored tensors."""
    base = part_files.bases(DATA)["fp8, no configuration"]
    tensors = base.copy()
    part_files.remove(tensors, base, "weight_scale")
    write(base, tensors)
    up = base.stem + "weight"
    for command, want in ((("quant", "case", "fp32", "--dequant", "--keep", up, "-o", "out", "-q"), 0),
                          (("inspect", "case", "--stats", "--grep", "gate_proj"), 0), (("inspect", "case", "--stats", "--raw"), 0),
                          (("inspect", "case", "--histogram"), 3), (("compare", "case", "case", "--only", "*gate_proj*"), 0),
                          (("compare", "case", "case", "--raw"), 0), (("compare", "case", "case", "--bitwise"), 0),
                          (("calc", "sum(@case:%s)" % base.stem.replace("up_proj", "gate_proj") + "weight", "fp32"), 2),
                          (("calc", "sum(@case:%sweight)" % base.stem.replace("up_proj", "gate_proj"), "fp32"), 0)):
        TALLY.check("left out: " + " ".join(command), run(*command)[0], want)
        shutil.rmtree("out", ignore_errors=True)
    TALLY.part("left out")


def changes(base):
    for part in base.parts:
        for name, change in (("removed", part_files.remove), ("dtype", part_files.retype), ("shape", part_files.reshape)):
            yield part, name, change
        if base.stem + part == base.codes:
            yield part, "plain floats", part_files.unpack
    for part in part_files.SURPLUS:
        if base.added(part)[len(base.stem):] not in base.parts and not (part == "scales" and base.codes.endswith("_blocks")):
            yield part, "added", part_files.add


def main():
    table = [] if "--update" in sys.argv else [tuple(line.split("\t")) for line in TABLE.read_text().splitlines() if line[:1] != "#"][1:]
    want = {row[:3]: row[3:] for row in table}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, base in part_files.bases(DATA).items():
            write(base, base.tensors)
            TALLY.check(name + ": whole", look(base, name)[0], "0 0 0 0 0 0 0")
            healthy = numbers()
            for part in base.parts:
                what = "%s, %s in another shard" % (name, part)
                write(base, base.tensors, base.stem + part)
                TALLY.check(what, look(base, what)[0], "0 0 0 0 0 0 0")
                TALLY.check(what + ": numbers", numbers() == healthy, True)
            for part, how, change in changes(base):
                tensors = base.copy()
                change(tensors, base, part)
                write(base, tensors)
                row = (name, part, how, *look(base, ", ".join((name, part, how))))
                rows.append(row)
                if table:
                    TALLY.check(row[:3], row[3:], want.pop(row[:3], None))
            TALLY.part(name)
        plain()
        left_out()
        os.chdir("/")
    TALLY.check("rows without a case", sorted(want), [])
    if "--update" in sys.argv:
        head = "# What test_parts.py finds: exits of check --quantized, quant --dequant, transcode, inspect, inspect --stats, compare, calc.\n"
        TABLE.write_text(head + "\n".join("\t".join(row) for row in (HEAD, *rows)) + "\n")
    return TALLY.finish()


sys.exit(main())
