#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A table of split GGUF parts that are missing, foreign, repeated or wrong: `check` fails, and every command that
reads the model refuses it by name. Also types that ggml does not define.

usage: test_gguf_split_broken.py DTINFO
"""
import os
import re
import resource
import shutil
import struct
import subprocess
import sys

import harness
from split_parts import ARCHITECTURE, I32, TOKENS, U16, U32, fresh, key, part_name, split_keys, text, write_part, write_three

gguf = harness.have("gguf")  # only for types
DTINFO = harness.Program(sys.argv[1])
require, run = DTINFO.require, DTINFO.run


def at(no):
    return "x/" + part_name("m", no, 3)


def rewrite(no, names, pairs):
    return lambda: write_part(at(no), names, pairs)


def whole(names, *keys):
    return lambda: (fresh("x"), write_part("x/m.gguf", names, [ARCHITECTURE, *keys]))


# (what is done to three good parts; the operands; the message). None: still a valid model.
BROKEN = [
    ("nothing", lambda: None, (at(0), at(1), at(2), "x"), None),
    ("part 1 missing", lambda: os.remove(at(0)), (at(1), at(2), "x"), "cannot open part 'm-00001-of-00003.gguf' of its 3"),
    ("part 2 missing", lambda: os.remove(at(1)), (at(0), at(2), "x"), "cannot open part 'm-00002-of-00003.gguf' of its 3"),
    ("part 3 missing", lambda: os.remove(at(2)), (at(0), at(1), "x"), "cannot open part 'm-00003-of-00003.gguf' of its 3"),
    ("parts 1 and 2 missing", lambda: (os.remove(at(0)), os.remove(at(1))), (at(2), "x"), "m-00001-of-00003.gguf"),
    ("part 2 is a folder", lambda: (os.remove(at(1)), os.mkdir(at(1))), (at(0), "x"), "m-00002-of-00003.gguf"),
    ("part 2 is empty", lambda: open(at(1), "w").close(), (at(0), at(2), "x"), "m-00002-of-00003.gguf': truncated"),
    ("part 2 is text", lambda: open(at(1), "w").write("x" * 99), (at(0), "x"), "does not begin with"),
    ("part 2 is truncated", lambda: os.truncate(at(1), os.path.getsize(at(1)) - 1), (at(0), at(2), "x"), "truncated"),
    ("part 2 is part 1", lambda: shutil.copy(at(0), at(1)), (at(0), "x"), "m-00002-of-00003.gguf': its split.no is 0"),
    ("part 2 is part 3", lambda: shutil.copy(at(2), at(1)), (at(0), at(2), "x"), "its split.no is 2"),
    ("parts 2 and 3 change places", lambda: (os.rename(at(1), "x/t"), os.rename(at(2), at(1)), os.rename("x/t", at(2))),
     (at(0), "x"), "its split.no is 2, but by its name it is 1"),
    ("part 1 is a copy of part 2", lambda: shutil.copy(at(1), at(0)), (at(1), at(2)), "its split.no is 1"),
    ("part 1 is named as it is not", lambda: shutil.copy(at(1), at(0)), (at(0),), "its name does not end in -00002-of-00003"),
    ("part 2 of 4", rewrite(1, [b"c"], split_keys(1, 4, 4)), (at(0), at(2), "x"), "another model: its split.count is 4"),
    ("part 2 with a count of 2", rewrite(1, [b"c"], split_keys(1, 2, 4)), (at(0), "x"), "its split.count is 2, not 3"),
    ("part 2 with a count of 0", rewrite(1, [b"c"], split_keys(1, 0, 4)), (at(0), "x"), "its split.count is 0, not 3"),
    ("part 2 of a model of 5 tensors", rewrite(1, [b"c"], split_keys(1, 3, 5)), (at(0), at(2), "x"),
     "its split.tensors.count is 5, not 4"),
    ("part 2 without split.no", rewrite(1, [b"c"], split_keys(None, 3, 4)), (at(0), "x"), "it has no key 'split.no'"),
    ("part 2 without split.count", rewrite(1, [b"c"], split_keys(1, None, 4)), (at(0), "x"), "no key 'split.count'"),
    ("part 2 without a total", rewrite(1, [b"c"], split_keys(1, 3, None)), (at(0), at(1), "x"), "'split.tensors.count'"),
    ("part 2 without keys", rewrite(1, [b"c"], []), (at(0), at(2), "x"), "it has no key 'split.no'"),
    ("part 1 without keys", rewrite(0, [b"a", b"b"], [ARCHITECTURE]), (at(1), at(2)), "it has no key 'split.no'"),
    ("a tensor more", rewrite(1, [b"c", b"e"], split_keys(1, 3, 4)), (at(0), at(1), "x"), "3 parts have 5 tensors"),
    ("a tensor less", rewrite(0, [b"a"], [ARCHITECTURE, *split_keys(0, 3, 4)]), (at(0), at(2), "x"),
     "3 parts have 3 tensors, but split.tensors.count says 4"),
    ("a tensor twice", rewrite(1, [b"a"], split_keys(1, 3, 4)), (at(0), at(1), "x"),
     "tensor 'a' is in two parts, 'm-00001-of-00003.gguf' and 'm-00002-of-00003.gguf'"),
    ("a tensor twice in part 3", rewrite(2, [b"d", b"d"], split_keys(2, 3, 5)), (at(0), at(2), "x"), "tensor 'd' occurs twice"),
    ("a negative total", lambda: [write_three("x", total=-1)], (at(0), "x"), "split.tensors.count says -1"),
    ("another architecture", rewrite(1, [b"c"], [key(b"general.architecture", 8, text(b"gemma")), *split_keys(1, 3, 4)]),
     (at(0), at(1), "x"), "key 'general.architecture' has another value in part 1"),
    ("another element of an array", rewrite(1, [b"c"], [TOKENS[:-1] + b"\1", *split_keys(1, 3, 4)]), (at(0), "x"),
     "key 'tokens' has another value in part 1"),
    ("another type of a value", rewrite(1, [b"c"], [key(b"general.architecture", 4, bytes(4)), *split_keys(1, 3, 4)]),
     (at(0), "x"), "key 'general.architecture' has another value in part 1"),
    ("the same keys again", rewrite(1, [b"c"], [ARCHITECTURE, TOKENS, *split_keys(1, 3, 4)]), (at(0), at(1), "x"), None),
    ("another alignment", rewrite(1, [b"c"], [key(b"general.alignment", U32, struct.pack("<I", 8)), *split_keys(1, 3, 4)]),
     (at(0), at(2), "x"), None),
    ("split.no of 4 bytes", rewrite(1, [b"c"], split_keys(1, 3, 4, (U32, U16, I32))), (at(0), "x"), "its type must be 2"),
    ("split.count of 4 bytes", rewrite(0, [b"a"], split_keys(0, 3, 4, (U16, U32, I32))), (at(0), "x"), "its type must be 2"),
    ("an unsigned total", rewrite(0, [b"a"], split_keys(0, 3, 4, (U16, U16, U32))), (at(0), "x"), "its type must be 5"),
    ("split.no above the count", rewrite(0, [b"a"], [ARCHITECTURE, *split_keys(7, 3, 4)]), (at(0), "x"),
     "its split.no is 7, counted from 0, of a split.count of 3"),
    ("no part of the name", lambda: os.rename(at(0), "x/model.gguf"), ("x/model.gguf",), "does not end in -00001-of-00003"),
    ("another count in the name", lambda: os.rename(at(0), "x/m-00001-of-00004.gguf"), ("x/m-00001-of-00004.gguf",),
     "does not end in -00001-of-00003"),
    ("numbers of four digits", lambda: os.rename(at(0), "x/m-0001-of-0003.gguf"), ("x/m-0001-of-0003.gguf",),
     "does not end in -00001-of-00003"),
    ("names of two models", lambda: os.rename(at(1), "x/n-00002-of-00003.gguf"), (at(0),), "cannot open part 'm-00002"),
    ("a count of 65535", rewrite(0, [b"a"], split_keys(0, 65535, 4)), (at(0),), "does not end in -00001-of-65535.gguf"),
    ("a count of 65535 in the name, too",
     lambda: write_part("x/m-00001-of-65535.gguf", [b"a"], split_keys(0, 65535, 4)),
     ("x/m-00001-of-65535.gguf",), "cannot open part 'm-00002-of-65535.gguf' of its 65535"),
    ("the last of 65535", lambda: write_part("x/m-65535-of-65535.gguf", [b"a"], split_keys(65534, 65535, 4)),
     ("x/m-65535-of-65535.gguf",), "cannot open part 'm-00001-of-65535.gguf' of its 65535"),
    ("merged by gguf-split", whole([b"a", b"b"], *split_keys(0, 0, 9)), ("x/m.gguf",), None),
    ("one part of one", whole([b"a", b"b"], *split_keys(0, 1, 2)), ("x/m.gguf",), None),
    ("one part of one, without a total", whole([b"a", b"b"], *split_keys(0, 1, None)), ("x/m.gguf",), None),
    ("one part of one, with less", whole([b"a", b"b"], *split_keys(0, 1, 3)), ("x/m.gguf",), "its split.tensors.count says 3"),
    ("the second of one", whole([b"a", b"b"], *split_keys(1, 1, 2)), ("x/m.gguf",), "split.no is 1, but split.count is 1"),
    ("a first part without tensors, and no other", lambda: (fresh("x"), write_part(at(0), [], split_keys(0, 3, 0))),
     (at(0), "x"), "cannot open part 'm-00002-of-00003.gguf'"),
    ("parts without tensors", lambda: (fresh("x"), [write_part(at(i), [], split_keys(i, 3, 0)) for i in range(3)]),
     (at(0), at(2), "x"), None),
    # folders
    ("two models in a folder", lambda: write_three("x", "n"), ("x",), "holds several gguf models, among them 'm-00001-of"),
    ("another file in the folder", lambda: write_part("x/zz.gguf", [b"a"], [ARCHITECTURE]), ("x",),
     "holds several gguf models, among them 'm-00001-of-00003.gguf' and 'zz.gguf'; name one of them"),
    ("a whole file in a folder", lambda: (fresh("x"), write_part("x/a.gguf", [b"a"], [ARCHITECTURE])), ("x",),
     "is a folder without *.safetensors files, without an index and without a split gguf"),
    ("a whole file in a folder, named as a part", lambda: (fresh("x"), write_part(at(0), [b"a"], [ARCHITECTURE])), ("x",),
     "is named as a part of a model, but has no split.count"),
]


def judge_broken():
    for what, change, operands, problem in BROKEN:
        fresh("x")
        write_three("x")
        change()
        for operand in operands:
            if problem is None:
                require("FAIL" not in run("check", operand)[0], what)
                run("cast", operand, "fp32", "-o", "out.gguf", "--force", "-q")
                run("compare", operand, "out.gguf")
                continue
            out, _ = run("check", operand, status=1)
            require(problem in out and "FAIL  valid" in out, what, operand, out)
            for words in (("inspect", operand), ("inspect", operand, "--stats"), ("compare", operand, operand),
                          ("mem", operand), ("cast", operand, "bf16", "-o", "bad.gguf"),
                          ("quant", operand, "q8_0", "-o", "bad.gguf", "--max-shard-size", "1"),
                          ("quant", "--dequant", operand, "fp32", "-o", "bad.safetensors"),
                          ("transcode", operand, "--to", "bf16", "-o", "bad.safetensors"),
                          ("explain", operand, operand)):
                _, said = run(*words, status=3)
                require(problem in said and said.count("\n") == 1, what, words, said)
                require(not [name for name in os.listdir(".") if name.startswith("bad")], what, words)
    fresh("x")
    write_three("x")
    with open(at(0), "rb") as part:
        done = subprocess.run([DTINFO.path, "inspect", "-"], stdin=part, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    require(done.returncode == 3 and b"give the name of its file" in done.stderr, done.stderr)


def judge_notes():
    """Oddities of models that are still read."""
    fresh("x")
    write_part(at(0), [b"a"], [ARCHITECTURE])
    require("its name is that of part 1 of 3, but it does not say so itself" in run("inspect", at(0))[0], "no note")
    write_three("x")
    write_part(at(1), [b"c"], [key(b"extra", 4, bytes(4)), *split_keys(1, 3, 4)])
    for operand in (at(0), at(1), "x"):
        out, _ = run("inspect", operand, "--metadata")
        require("'m-00002-of-00003.gguf': 1 key-value that part 1 does not have" in out and "extra  " not in out, out)


def judge_memory():
    """A tiny file that claims 65535 parts is refused within 64 MiB of memory; 800 parts are read; more than 65535
    parts are refused."""
    fresh("x")
    write_part("x/m-00001-of-65535.gguf", [b"a"], split_keys(0, 65535, 4))
    most = 64 << 20
    done = subprocess.run([DTINFO.path, "inspect", "x/m-00001-of-65535.gguf"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (most, most)))
    require(done.returncode == 3, done.returncode, done.stderr)
    fresh("x")
    for no in range(800):
        write_part("x/" + part_name("m", no, 800), [b"t%d" % no], ([ARCHITECTURE] if no == 0 else []) + split_keys(no, 800, 800))
    for operand in ("x", "x/" + part_name("m", 799, 800), "x/" + part_name("m", 0, 800)):
        require("800 files, 800 tensors" in run("check", operand)[0], operand)
    write_part("many.gguf", [b"t%d" % i for i in range(65536)], [ARCHITECTURE])
    _, said = run("cast", "many.gguf", "bf16", "--dry-run", "-o", "parts.gguf", "--max-shard-size", "1", status=2)
    require("would have 65536 parts of 65536 tensors, and a split gguf has at most 65535 parts" in said, said)


def judge_types():
    """ggml's header decides which types exist; those that it removed cannot be loaded either."""
    if gguf is None:
        print("skipped: types, which need gguf")
        return
    defined = {int(kind) for kind in gguf.GGMLQuantizationType}
    forks = rows_of("gguf_forks.def")  # see test_gguf_forks.py
    undefined = [kind for kind in [*range(256), 65536, 2**31, 2**32 - 1] if kind not in defined]
    require({4, 5, 31, 32, 33, 36, 37, 38} <= set(undefined), "types that ggml removed")
    undefined = [kind for kind in undefined if kind not in forks]
    write_part("good.gguf", [b"a", b"b"], [ARCHITECTURE])
    known = []
    for kind in undefined[::5] if harness.QUICK else undefined:
        write_part("u.gguf", [b"a", b"b"], [ARCHITECTURE], kind)
        out = subprocess.run([DTINFO.path, "check", "u.gguf"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if b"which ggml does not define" not in out.stdout:
            known.append(kind)
            continue
        require(out.returncode == 1 and b"unknown type %d" % kind in out.stdout, kind, out)
        require("types that ggml does not define" in run("inspect", "u.gguf")[0], kind)
        if kind > 64 and kind != 99:
            continue
        for words in (("cast", "u.gguf", "bf16", "-o", "bad.gguf"), ("cast", "u.gguf", "bf16", "-o", "bad.safetensors"),
                      ("cast", "u.gguf", "bf16", "-o", "bad.gguf", "--keep", "a,b"),
                      ("quant", "u.gguf", "q8_0", "-o", "bad.gguf"), ("compare", "u.gguf", "good.gguf"),
                      ("quant", "--dequant", "u.gguf", "fp32", "-o", "bad.safetensors"),
                      ("transcode", "u.gguf", "--to", "bf16", "-o", "bad.safetensors"),
                      ("calc", "sum(@u.gguf:a)", "fp32"), ("check", "u.gguf", "--no-nan")):
            run(*words, status=3)
            require(not os.path.exists("bad.gguf") and not os.path.exists("bad.safetensors"), words)
        run("compare", "u.gguf", "u.gguf")  # equal bytes, whatever their type
    # a type that gguf-py lacks must be a row from ggml's header in the tables
    newer = {kind for kind in rows_of("gguf_types.def") if kind > 38}
    require(set(known) <= newer, "types without a source", known)


SOURCES = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "../../../src/core/dtype")


def rows_of(name):
    """The ids of the rows of a table."""
    with open(os.path.join(SOURCES, name), encoding="utf-8") as file:
        return {int(number) for number in re.findall(r"^GGUF_\w+\( *(\d+)", file.read(), re.M)}


def main():
    harness.in_new_folder(judge_broken, judge_notes, judge_memory, judge_types)
    print("%d checks" % DTINFO.checks)


main()
