#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Requirements for malicious PyTorch files: nothing in them is executed or created, and each is refused in one line,
quickly and in little memory."""
import os
import pathlib
import struct
import sys
import tempfile
import zipfile

from make_pickles import (HOOKS, MAGIC, VERSION, archive, legacy, name, number, numbers, state, storage, tensor, text)
from survival import SANITIZED, SPARSE, check, main, peak_kib, require, require_one_line, run

MEMORY_KIB = 64 * 1024
TOUCH = text("touch made")
GOOD = state({"a": tensor()})
FOURS = struct.pack("<4f", 1, 2, 3, 4)


def call(module, function, arguments=TOUCH):
    return name(module, function) + b"(" + arguments + b"tR"


def local(data, offset, value):
    """Changes a field in the local header of the last storage."""
    at = data.rindex(b"PK\3\4", 0, data.index(b"archive/data/0"))
    return data[:at + offset] + value + data[at + offset + len(value):]


def central(data, offset, value, member=b"archive/data/0"):
    at = data.rindex(member) - 46
    return data[:at + offset] + value + data[at + offset + len(value):]


def twice(member):
    return archive(GOOD, more=[(member, FOURS)])


def laughs(levels):
    """Nested lists, each with ten references to the previous one (a billion-laughs bomb), and a tensor at the same
    depth."""
    body = b"\x80\x02" + tensor() + b"q\0"
    for level in range(levels):
        body += b"0](" + (b"h" + bytes([level])) * 10 + b"eq" + bytes([level + 1])
    return body + b"."


CALLS = {
    "os.system": call("os", "system"),
    "posix.system": call("posix", "system"),
    "nt.system": call("nt", "system"),
    "builtins.eval": call("builtins", "eval", text("open('made', 'w')")),
    "builtins.exec": call("builtins", "exec", text("open('made', 'w')")),
    "__builtin__.eval": call("__builtin__", "eval", text("1")),
    "builtins.open": call("builtins", "open", text("made") + text("w")),
    "builtins.getattr": call("builtins", "getattr", name("os", "sep") + text("join")),
    "builtins.__import__": call("builtins", "__import__", text("os")),
    "subprocess.Popen": call("subprocess", "Popen"),
    "subprocess.check_output": call("subprocess", "check_output"),
    "sys.exit": call("sys", "exit", number(0)),
    "shutil.rmtree": call("shutil", "rmtree", text(".")),
    "socket.socket": call("socket", "socket", b""),
    "webbrowser.open": call("webbrowser", "open"),
    "runpy._run_code": call("runpy", "_run_code"),
    "torch.load": call("torch", "load", text("made")),
    "torch.hub.load": call("torch.hub", "load"),
    "numpy.load": call("numpy", "load"),
    "operator.attrgetter": call("operator", "attrgetter", text("system")),
    "functools.partial": call("functools", "partial", name("os", "system") + TOUCH),
    "pickle.loads": call("pickle", "loads", text("x")),
    "a name with dots": call("os.path", "os.system"),
    "nested calls": name("builtins", "list") + b"(" + call("os", "system") + b"tR",
    "a call of a call": call("builtins", "getattr") + b"(" + TOUCH + b"tR",
    "NEWOBJ": name("subprocess", "Popen") + b"(" + TOUCH + b"t\x81",
    "NEWOBJ_EX": name("subprocess", "Popen") + b"(" + TOUCH + b"t}\x92",
    "INST": b"(" + TOUCH + b"ios\nsystem\n",
    "OBJ": b"(" + name("os", "system") + TOUCH + b"o",
    "BUILD": name("__main__", "Net") + b")\x81}" + text("__setstate__") + name("os", "system") + b"sb",
    "STACK_GLOBAL": text("os") + text("system") + b"\x93(" + TOUCH + b"tR",
    "EXT1": b"\x82\1(" + TOUCH + b"tR",
    "EXT2": b"\x83\1\0)R",
    "EXT4": b"\x84\xff\xff\xff\xff)R",
    "a class with its source": b"(" + text("module") + name("__main__", "Net") + text("x.py") + text("import os") +
                               b"tQ)\x81",
}
# An answer, since nothing that a tensor depends on is missing.
WITHOUT_TENSORS = {
    "999 lists in each other": archive(b"\x80\x02" + b"]" * 999 + b"a" * 998 + b"."),
    "a dict in itself": archive(b"\x80\x02}q\0" + text("a") + b"h\0s."),
    "a list in itself": archive(b"\x80\x02]q\0h\0a."),
}
FILES = {
    # stack and memo
    "an empty pickle": archive(b""),
    "no STOP": archive(b"\x80\x02}"),
    "STOP alone": archive(b"."),
    "two values": archive(b"\x80\x02}}."),
    "a value under a mark": archive(b"\x80\x02}(."),
    "POP of nothing": archive(b"\x80\x020."),
    "SETITEM of nothing": archive(b"\x80\x02s."),
    "SETITEMS without a mark": archive(b"\x80\x02}u."),
    "a key without a value": archive(b"\x80\x02}(" + text("a") + b"u."),
    "items for a number": archive(b"\x80\x02K\1(K\2e."),
    "TUPLE3 of one": archive(b"\x80\x02K\1\x87."),
    "REDUCE of numbers": archive(b"\x80\x02K\1K\2R."),
    "REDUCE without a tuple": archive(b"\x80\x02" + name("os", "system") + b"K\1R."),
    "BUILD of nothing": archive(b"\x80\x02}b."),
    "a memo of 2^32 - 1": archive(b"\x80\x02}r\xff\xff\xff\xff."),
    "a memo of 2^31": archive(b"\x80\x02}r\0\0\0\x80."),
    "a memo that is not there": archive(b"\x80\x02h\5."),
    "a memo that is far away": archive(b"\x80\x02j\xff\xff\xff\xff."),
    "protocol 255": archive(b"\x80\xff}."),
    "opcodes of text": archive(b"(dp0\nS'a'\np1\nI1\ns."),
    "an opcode that is none": archive(b"\x80\x02\xff."),
    "a persistent text": archive(b"\x80\x02P0\n."),
    # lengths
    "a text of 4 GiB": archive(b"\x80\x02X\xff\xff\xff\xffa."),
    "a text of 2^64 - 1": archive(b"\x80\x04\x8d" + b"\xff" * 8 + b"a."),
    "bytes of 2^63": archive(b"\x80\x04\x8e" + b"\0" * 7 + b"\x80a."),
    "a number of 4 GiB": archive(b"\x80\x02\x8b\xff\xff\xff\xff1."),
    "a frame without content": archive(b"\x80\x04\x95" + b"\xff" * 8),
    "a global without an end": archive(b"\x80\x02cos\nsystem"),
    "a global of 1 MiB": archive(b"\x80\x02c" + b"a" * (1 << 20) + b"\nb\n."),
    # sizes
    "laughs of unknown objects": archive(laughs(60).replace(tensor(), call("os", "system"))),
    "a tensor 200,000 times": archive(b"\x80\x02](" + tensor() + b"q\0" + b"h\0" * 200000 + b"e."),
    "2,000 lists in each other": archive(b"\x80\x02" + b"]" * 2000 + b"a" * 1999 + b"."),
    "200,000 marks": archive(b"\x80\x02" + b"(" * 200000 + b"."),
    "200,000 dicts on the stack": archive(b"\x80\x02" + b"}" * 200000 + b"."),
    "a long name many times": archive(b"\x80\x02}" + text("n" * 4000) + b"](" + tensor() + b"q\0" + b"h\0" * 9999 + b"es."),
    "a name of 5,000 bytes": archive(state({"n" * 5000: tensor()})),
    "a list of pairs many times": archive(b"\x80\x02](" + (b"](NNe" * 1000) + b"eq\0](" +
                                          (name("collections", "OrderedDict") + b"(h\0tR") * 900 + b"e."),
    "names that repeat": archive(b"\x80\x02}(" + (text("a") + tensor()) * 2 + b"u."),
    "names that join": archive(state({"a.b": tensor(), "a": b"}" + text("b") + tensor() + b"s"})),
    # tensors
    "a storage that is not there": archive(state({"a": tensor(storage("7"))})),
    "a path as a key": archive(state({"a": tensor(storage("../../../etc/passwd"))})),
    "a NUL in a key": archive(state({"a": tensor(storage("0\0"))})),
    "a storage that is longer": archive(state({"a": tensor(storage(count=5))})),
    "a storage of 2^62": archive(state({"a": tensor(storage(count=2**62))})),
    "a storage of -1": archive(state({"a": tensor(storage(count=-1))})),
    "a storage of text": archive(state({"a": tensor(text("0"))})),
    "a storage of an unknown class": archive(state({"a": tensor(storage(kind="EvilStorage"))})),
    "a shape beyond the storage": archive(state({"a": tensor(shape=(5,))})),
    "an offset beyond the storage": archive(state({"a": tensor(offset=1)})),
    "an offset of 2^62": archive(state({"a": tensor(offset=2**62)})),
    "a negative offset": archive(state({"a": tensor(offset=-1)})),
    "a negative stride": archive(state({"a": tensor(strides=(-1,))})),
    "a negative length": archive(state({"a": tensor(shape=(-4,))})),
    "strides that overflow": archive(state({"a": tensor(shape=(3, 3), strides=(2**62, 2**62))})),
    "a shape that overflows": archive(state({"a": tensor(shape=(2**40, 2**40), strides=(0, 0))})),
    "a shape of texts": archive(state({"a": tensor().replace(numbers((4,)), b"(" + text("4") + b"t", 1)})),
    "65 dimensions": archive(state({"a": tensor(shape=(1,) * 65, strides=(1,) * 65)})),
    "too few strides": archive(state({"a": tensor(shape=(2, 2), strides=(1,))})),
    "too few parts": archive(state({"a": name("torch._utils", "_rebuild_tensor_v2") + b")R"})),
    "a tensor of a function": archive(state({"a": name("torch._tensor", "_rebuild_from_type_v2") + b"(" +
                                             name("os", "system") + name("os", "sep") + b"(" + TOUCH + b"t}tR"})),
    "a parameter of a number": archive(state({"a": name("torch._utils", "_rebuild_parameter") + b"(K\1\x88" + HOOKS + b"tR"})),
    # archives
    "a second pickle": archive(GOOD + state({"b": call("os", "system")})),
    "bytes after the pickle": archive(GOOD + b"\0"),
    "a storage twice": twice("archive/data/0"),
    "the pickle twice": twice("archive/data.pkl"),
    "a member outside": twice("../made"),
    "an absolute member": twice("/tmp/made"),
    "TorchScript": archive(GOOD, more=[("archive/constants.pkl", GOOD)]),
    "deflated": archive(GOOD, method=zipfile.ZIP_DEFLATED),
    "encrypted": central(archive(GOOD), 8, b"\1\0"),
    "another byte order": archive(GOOD, byteorder="middle"),
    "a long byte order": archive(GOOD, byteorder="l" * 100000),
    "another name in the header": local(archive(GOOD), 30, b"ARCHIVE"),
    "other sizes in the header": local(archive(GOOD), 18, b"\5\0\0\0"),
    "a member beyond the end": central(archive(GOOD), 20, b"\xff\xff\xff\x7f"),
    "a member over the next": central(archive(GOOD), 20, struct.pack("<2I", 400, 400)),
    "a member at another": central(archive(GOOD), 42, b"\0\0\0\0"),
    "zip64 without its field": central(archive(GOOD), 20, b"\xff" * 8),
    "no end record": archive(GOOD)[:-10],
    "bytes after the end": archive(GOOD) + b"\0" * 9,
    # the older format
    "no version": MAGIC,
    "another version": MAGIC + b"\x80\x02K\1." + GOOD,
    "a version that runs": MAGIC + b"\x80\x02" + call("os", "system") + b".",
    "no byte order": MAGIC + VERSION + b"\x80\x02}.",
    "keys that run": MAGIC + VERSION + legacy(GOOD)[len(MAGIC + VERSION):].split(GOOD)[0] + GOOD + b"\x80\x02" +
                     call("os", "system") + b".",
    "no storages": legacy(GOOD, keys=(), data=[(0, b"")])[:-8],
    "a key that no tensor has": legacy(GOOD, keys=("0", "1")),
    "a key twice": legacy(GOOD, keys=("0", "0"), data=[(4, FOURS), (4, FOURS)]),
    "another count": legacy(GOOD, data=[(5, FOURS)]),
    "a count of 2^63": legacy(GOOD, data=[(-1 << 63, FOURS)]),
    "too short": legacy(GOOD, data=[(4, FOURS[:15])]),
    "bytes after the storages": legacy(GOOD, after=b"x"),
    "a view beyond its storage": legacy(state({"a": tensor(storage(last=b"(" + text("v") + number(2) + number(3) + b"t"))})),
    "a bare pickle": state({"a": call("os", "system")}),
    "a tar archive": b"pickle".ljust(257, b"\0") + b"ustar\x0000".ljust(255, b"\0") + GOOD.ljust(512, b"\0"),
}
READ = {
    "the zip form": archive(GOOD),
    "the older form": legacy(GOOD),
    "no byte order": archive(GOOD, byteorder=""),
    "a dict of Python 2": archive(b"\x80\x02" + name("collections", "OrderedDict") + b"](](" + text("a") + tensor() +
                                  b"ee\x85R."),
    "a part of a storage": legacy(state({"a": tensor(storage(count=6, last=b"(" + text("v") + number(1) + number(4) +
                                                             b"t"))}), data=[(6, bytes(4) + FOURS + bytes(4))]),
    "a tensor in a set": archive(b"\x80\x02" + name("builtins", "set") + b"](" + tensor() + b"e\x85R."),
    "big-endian": archive(GOOD, {"0": struct.pack(">4f", 1, 2, 3, 4)}, byteorder="big"),
    "big-endian, older": legacy(GOOD, data=[(4, struct.pack(">4f", 1, 2, 3, 4))], little=False),
}


def refused(what, content):
    pathlib.Path("x.pt").write_bytes(content)
    done = run(["inspect", "x.pt"])
    require(done.code == 3, "exit code of", what, done.code, done.stdout[-200:], done.stderr)
    require_one_line(done, 3)
    require_little(what)


def require_little(what):
    require(sorted(os.listdir(".")) == ["x.pt"], "made something:", what, os.listdir("."))
    if not SANITIZED:
        _, peak, seconds = peak_kib(["inspect", "x.pt"], b"")
        require(peak <= MEMORY_KIB, "KiB of", what, peak)
        require(seconds <= 1, "seconds of", what, seconds)


@check
def what_is_good_is_read():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for what, content in READ.items():
            pathlib.Path("x.pt").write_bytes(content)
            done = run(["cast", "x.pt", "fp32", "--as", "text", "-o", "-"])
            require(done.stdout.split()[:4] == [b"1", b"2", b"3", b"4"], what, done.stdout, done.stderr)
        os.chdir("/")


@check
def what_is_repeated_is_read_once():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        loop = b"\x80\x02}q\0(" + text("a") + tensor() + text("again") + b"h\0" + text("list") + b"](h\0h\0eu."
        for content, names in ((archive(laughs(60)), 10), (archive(loop), 1), (legacy(loop), 1)):
            pathlib.Path("x.pt").write_bytes(content)
            done = run(["inspect", "x.pt", "-q"])
            require(done.code == 0 and len(done.stdout.splitlines()) == names, "names:", names, done.stdout[-300:],
                    done.stderr)
        os.chdir("/")


@check
def no_call_is_made_and_every_one_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for what, opcodes in CALLS.items():
            for content in (archive(b"\x80\x02" + opcodes + b"."), archive(state({"a": tensor(), "b": opcodes})),
                            archive(state({"b": opcodes + b"0" + tensor()})),
                            legacy(state({"a": tensor(), "b": opcodes}))):
                refused(what, content)
        os.chdir("/")


@check
def every_file_is_refused_in_one_line():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for what, content in FILES.items():
            refused(what, content)
        os.chdir("/")


@check
def what_has_no_tensors_is_an_answer():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for what, content in WITHOUT_TENSORS.items():
            pathlib.Path("x.pt").write_bytes(content)
            done = run(["inspect", "x.pt"])
            require(done.code == 0 and b" 0 tensors" in done.stdout and not done.stderr, what, done.code, done.stdout, done.stderr)
            require_little(what)
        os.chdir("/")


@check
def what_would_be_called_is_listed_in_little_memory():
    calls = [(what, content) for what, opcodes in CALLS.items()
             for content in (archive(state({"a": tensor(), "b": opcodes})), legacy(state({"b": opcodes}), keys=(), data=()))]
    files = {**FILES, **WITHOUT_TENSORS}
    memo = [("memo", archive(b"\x80\x02N" + b"".join(b"r" + struct.pack("<I", i) for i in (4194303, 2**32 - 1)) + b"."))]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for what, content in calls + list(files.items()) + memo:
            pathlib.Path("x.pt").write_bytes(content)
            code, peak, seconds = peak_kib(["check", "--pickle", "x.pt"], b"")
            require(code == 1 or (code < 4 and what in files), what, "exit", code)
            require(SANITIZED or (peak <= MEMORY_KIB and seconds < 1), what, peak, "KiB", seconds, "s")
        require(not os.path.exists("made"), "something was made")
        os.chdir("/")


@check
def every_cut_is_refused_or_read():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for whole in (archive(GOOD), legacy(GOOD)):
            for length in range(0, len(whole), (1 if len(whole) < 300 else 7) * (3 if SPARSE else 1)):
                pathlib.Path("x.pt").write_bytes(whole[:length])
                require_one_line(run(["inspect", "x.pt"]), 3)
        os.chdir("/")


sys.exit(main())
