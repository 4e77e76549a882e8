#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""JSON with hostile texts: every command, every option and operand, every text of a file. Each document must be strict
JSON, valid by the schema that it names, with no duplicate and no forged members; and the texts must come back
unchanged."""
import contextlib
import json
import os
import pathlib
import sys
import tempfile

from make_checkpoint import gguf, npy, npz, pack, safetensors
from survival import PROGRAM, QUICK, SANITIZED, check, main, require, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/schema"))
import checker  # noqa: E402

CHECKERS = {name: checker.Checker(schema)
            for name, schema in checker.load(pathlib.Path(PROGRAM).parent / "schemas").items()}
FORGED = 'x"}],"injected":[{"y":"'
TEXTS = [FORGED, '*"\\d', '"', "\\", 'a"b', "line\nbreak", "\x01\x1b[2J\x7f", "rtl\u202e\u0085", "\u00e9,\u4e2d",
         b"bad\xff\xc3", '","x":1e', "x" * 300 + '"', ""]
if SANITIZED or QUICK:  # one text of each kind
    TEXTS = [FORGED, b"bad\xff\xc3", "x" * 300 + '"', ""]
EXIT_CODES = range(6)
ONE = pack("F32", [1.0])
# %s: the hostile text
LINES = ["list %s", "list --%s", "finfo %s", "iinfo %s", "finfo --style %s", "cast %s bf16", "cast 1 %s",
         "cast 1 bf16,%s", "cast 1 bf16 --via %s", "cast 1 bf16 --like %s", "cast 1 bf16 --seed %s",
         "cast 1 bf16 --fail-on %s", "cast %s --from fp32 --as %s", "bits %s", "bits %s bf16", "bits 0x1 %s",
         "quant 1 %s", "quant %s int8", "quant 1 2 int8 --scale %s", "quant 1 2 int8 --like %s", "mem %s",
         "mem 7B %s", "mem 7B --fit %s", "mem 7B --train %s", "mem 7B --train adam --gradients %s",
         "devices --device %s", "devices --sysroot %s", "devices --arch %s", "devices --supports %s",
         "bench %s", "bench cast %s:bf16", "bench copy --size %s",
         "bench matmul --engine %s", "bench cast --list --baseline %s", "%s", "--%s", "list --color=%s",
         "inspect f.safetensors --only %s", "inspect f.safetensors none --grep %s", "inspect f.npy --from %s",
         "inspect f.npy --assume %s", "inspect f.safetensors --sort %s", "inspect %s f.npy",
         "compare f.npy f.npy --only %s", "compare f.npy %s", "check f.npy --dtype %s", "check f.npy --valid --only %s",
         "check f.npy --shape %s", "check f.npy --fits %s", "check %s --valid", "mem f.safetensors --keep %s",
         "mem f.safetensors --only %s", "mem f.npy bf16 --assume %s", "cast f.safetensors bf16 --dry-run --keep %s",
         "cast f.safetensors bf16 --dry-run --select %s", "cast f.safetensors bf16 -o %s/x",
         "quant f.safetensors int8 --dry-run --keep %s", "quant f.safetensors int8 --dry-run --layout %s",
         "quant f.safetensors bf16 --dequant --only %s"]
# the commands run on every file
QUESTIONS = [["inspect"], ["inspect", "--stats", "--histogram", "--each"], ["check", "--valid", "--no-nan"],
             ["check", "--dtype", "bf16", "--fits", "fp16"], ["mem"], ["mem", "bf16", "-v"],
             ["cast", "bf16", "--dry-run"], ["quant", "int8", "--dry-run"], ["quant", "bf16", "--dequant", "--dry-run"]]


@contextlib.contextmanager
def folder():
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="dtinfo-json-") as name:
        os.chdir(name)
        try:
            pathlib.Path("f.npy").write_bytes(npy("<f4", (1,), ONE))
            pathlib.Path("f.safetensors").write_bytes(safetensors([("a", "F32", [1], ONE)]))
            yield
        finally:
            os.chdir(before)


def members(pairs):
    require(len(dict(pairs)) == len(pairs), "a member twice:", [key for key, _ in pairs])
    return dict(pairs)


def refuse(name):
    raise ValueError("bare " + name)


def ask(words, form="--json"):
    """The JSON documents of a command line, each one checked."""
    done = run([form] + words)
    require(done.code in EXIT_CODES, "exit code", words, done.code, done.stderr)
    text = done.stdout.decode("utf-8")
    documents = []
    for line in text.splitlines():
        try:
            documents.append(json.loads(line, object_pairs_hook=members, parse_constant=refuse))
        except ValueError as error:
            require(False, "not JSON:", words, str(error), line[max(0, getattr(error, "pos", 0) - 60):][:200])
        document = documents[-1]
        problems = CHECKERS[document["schema"]].problems(document)
        require(not problems, "not by its schema:", words, problems[:3])
    require(documents and text.endswith("\n"), "no document:", words, done.stderr)
    require(form == "--jsonl" or len(documents) == 1, "several documents:", words)
    return documents


def other_member(name):
    """An archive of an array and a member that is not an array."""
    return npz({b"a": npy("<f4", (1,), ONE), name + b"@": b"text"}).replace(name + b"@.npy", name + b"@.txt")


def as_json(text):
    """A text as a JSON reader gets it: invalid UTF-8 is replaced."""
    return text if isinstance(text, str) else None


@check
def no_word_of_the_command_line_forges_a_member():
    with folder():
        for line in LINES:
            for text in TEXTS:
                raw = text if isinstance(text, bytes) else text.encode()
                words = [word.encode().replace(b"%s", raw) for word in line.split()]
                for form in ("--json", "--jsonl") if text in (FORGED, "\\") else ("--json",):
                    ask(words, form)


@check
def options_and_operands_come_back_as_they_were_given():
    with folder():
        for text in filter(as_json, TEXTS):
            inspected = ask(["inspect", "f.npy", "--only", text])[0]["options"]
            require(inspected["only"] == text, "--only:", text, inspected["only"])
            failed = ask(["cast", "1", "no" + text])[0]["error"]["argument"]
            require(failed is None or ("no" + text).startswith(failed), "argument:", text, failed)
        inspected = ask(["inspect", "f.npy", "--only", FORGED, "--grep", '"\\\\'])[0]["options"]
        require((inspected["only"], inspected["grep"]) == (FORGED, '"\\\\'), "options:", inspected)


def hostile_files(text):
    """name, bytes and texts, for each kind of file that can contain a hostile text"""
    plain = text if isinstance(text, str) else text.decode("latin-1")
    descr = plain.encode("ascii", "backslashreplace").decode()
    raw = text if isinstance(text, bytes) else text.encode()
    yield "name.safetensors", safetensors([(plain, "F32", [1], ONE), ("b", "F32", [1], ONE)], {plain: plain})
    yield "dtype.safetensors", safetensors([("a", plain, [1], ONE)])
    yield "descr.npy", npy(descr, (1,), ONE)
    yield "fields.npy", npy([(descr, "<f4")], (1,), ONE)
    yield "pair.npy", npy([((descr, descr), "<f4")], (1,), ONE)
    if b"\0" not in raw and len(raw) < 60:
        yield "name.npz", npz({raw: npy("<f4", (1,), ONE), b"b": npy([(descr, "<f4")], (1,), ONE)})
        yield "other.npz", other_member(b"b" + raw)
    yield "name.gguf", gguf([(raw, "string", raw), (b"l", ("array", "string"), [raw])],
                            [(raw[:63], "F32", (1,), ONE), (b"b", 999, (1,), ONE)])
    yield "model.safetensors.index.json", json.dumps({"metadata": {plain: plain},
                                                      "weight_map": {plain: plain, "b": "f.safetensors"}}).encode()


@check
def no_text_of_a_file_forges_a_member():
    with folder():
        for text in TEXTS:
            for name, data in hostile_files(text):
                pathlib.Path(name).write_bytes(data)
                for words in QUESTIONS:
                    ask([words[0], name] + words[1:])
                ask(["compare", name, "f.npy"])
                ask(["compare", name, name])
                ask(["inspect", name, "f.npy"], "--jsonl")


@check
def names_of_members_come_back_as_they_are():
    with folder():
        pathlib.Path("i.npz").write_bytes(npz({FORGED: npy("<f4", (1,), ONE)}))
        pathlib.Path("o.npz").write_bytes(other_member(FORGED.encode()))
        file = ask(["inspect", "i.npz"])[0]["files"][0]
        require([one["name"] for one in file["tensors"]] == [FORGED], "names:", file["tensors"])
        notes = ask(["inspect", "o.npz"])[0]["files"][0]["notes"]
        require(len(notes) == 1 and '"}],"injected":[{"y":"' in notes[0]["message"], "notes:", notes)
        pathlib.Path("q.npy").write_bytes(npy([('a"b', "<f4")], (1,), ONE))
        tensors = ask(["inspect", "q.npy"])[0]["files"][0]["tensors"]
        require([one["name"] for one in tensors] == ['data.a"b'], "fields:", tensors)


@check
def names_of_files_forge_nothing():
    with folder():
        for text in TEXTS:
            raw = (text if isinstance(text, bytes) else text.encode())[:200].replace(b"/", b"_") + b".npy"
            pathlib.Path(os.fsdecode(raw)).write_bytes(npy([('a"', "<f4")], (1,), ONE))
            for words in QUESTIONS:
                ask([words[0].encode(), raw] + [word.encode() for word in words[1:]])
                ask([words[0].encode(), b"none" + raw] + [word.encode() for word in words[1:]])


if __name__ == "__main__":
    sys.exit(main())
