#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hand-written zip archives, of npz and of PyTorch files: odd but valid ones are read as zipfile reads them; invalid
or ambiguous ones are refused in one line; and whichever header byte is changed, `check` accepts only members that
zipfile reads with the same bytes.

    hand_made_zips.py DTINFO MEASURE [long]
"""
import io
import json
import os
import pathlib
import struct
import sys
import tempfile
import zipfile
import zlib

from make_checkpoint import npy
from make_pickles import state, storage, tensor
from make_zips import DESCRIPTOR, ENCRYPTED, FULL, UTF8, Entry, build, descriptor
from survival import SPARSE, check, main, require, require_one_line, run

LONG = "long" in sys.argv[3:]
if LONG:
    sys.argv.remove("long")
ONES, TWOS = struct.pack("<4f", 1, 2, 3, 4), struct.pack("<6h", 5, 6, 7, 8, 9, 10)
A, B = npy("<f4", (4,), ONES), npy("<i2", (2, 3), TWOS)
WANTED = {"a": ONES, "b": TWOS}
PICKLE = state({"a": tensor(), "b": tensor(storage("1", "ShortStorage", 6), shape=(2, 3), strides=(3, 1))})


def numpy_parts(**more):
    return [Entry("a.npy", A, **more), Entry("b.npy", B, **more)]


def torch_parts(**more):
    """The members of a torch.save() file."""
    members = {"data.pkl": PICKLE, "byteorder": b"little", "data/0": ONES, "data/1": TWOS, "version": b"3\n"}
    return [Entry("archive/" + name, data, **more) for name, data in members.items()]


def described(parts, **how):
    """With data descriptors after the data."""
    return [Entry(part.name.decode(), part.data, part.method, DESCRIPTOR,
                  descriptor=descriptor(part.data, len(part.packed), **how), wide=part.wide) for part in parts]


def with_one(parts, at=-1, **changes):
    """The same with another entry changed, by default the last; fields of `local` and `central` are merged into it."""
    old = parts[at]
    parts[at] = Entry(old.name.decode(), old.data, **{"method": old.method, "flags": old.flags, **changes})
    return parts


def padding(size):
    """Alignment as torch does it: an extra field in the local header only."""
    return struct.pack("<2s2H", b"FB", size + 2, 0) + b"Z" * size


KINDS = {"npz": numpy_parts, "pt": torch_parts}
READ = {
    "plain": lambda parts: build(parts()),
    "the 64-bit end record": lambda parts: build(parts(), end64={}),
    "the 64-bit end record alone": lambda parts: build(parts(), end64={}, end={
        "here": 0xffff, "count": 0xffff, "directory_size": FULL, "directory": FULL}),
    "sizes of 64 bits": lambda parts: build(parts(wide=True)),
    "all of 64 bits": lambda parts: build(parts(wide=True), end64={}),
    "descriptors": lambda parts: build(described(parts())),
    "descriptors without a mark": lambda parts: build(described(parts(), mark=False)),
    "descriptors of 64 bits": lambda parts: build(described(parts(wide=True), wide=True)),
    "descriptors, and sizes in front too": lambda parts: build([
        Entry(part.name.decode(), part.data, flags=DESCRIPTOR, after=descriptor(part.data)) for part in parts()]),
    "a comment of the archive": lambda parts: build(parts(), comment=b"made by hand"),
    "a comment with half a mark": lambda parts: build(parts(), comment=b"PK\5"),
    "comments of members": lambda parts: build(parts(comment=b"a comment")),
    "unknown extra fields": lambda parts: build(parts(extra=b"UT\x05\0\1abcd", central_extra=b"ux\x02\0\1\2")),
    "padding as torch has it": lambda parts: build(parts(extra=padding(37))),
    "names in UTF-8": lambda parts: build(parts(flags=UTF8)),
    "holes between members": lambda parts: build(parts(after=b"\0" * 50)),
    "another order in the directory": lambda parts: build(parts(), order=list(range(len(parts())))[::-1]),
    "attributes of a link": lambda parts: build(with_one(parts(), central={"outer": 0o120777 << 16})),
    "attributes of a folder": lambda parts: build(with_one(parts(), central={"outer": 0o40755 << 16 | 0x10})),
    "times of another world": lambda parts: build(parts(local={"time": FULL}, central={"time": 0})),
}
DEFLATED = {"deflated": build(numpy_parts(method=8)), "deflated, with descriptors": build(described(numpy_parts(method=8))),
            "deflated, of 64 bits": build(numpy_parts(method=8, wide=True), end64={})}
# what is refused, and a word of the reason
REFUSED = {
    "bytes before": (lambda parts: build(parts(), before=b"#!/bin/sh\n"), "is not a PyTorch file|before the first member"),
    "bytes before that count": (lambda parts: build(
        [Entry("x", b"")] + parts(), order=list(range(1, len(parts()) + 1)), end={"count": len(parts()), "here": len(parts())}),
        "before the first member"),
    "bytes after": (lambda parts: build(parts(), last=b"\0" * 30), "bytes after it|end record"),
    "a comment that is longer": (lambda parts: build(parts(), comment=b"abc", end={"comment_length": 4}), "end record"),
    "a comment that is shorter": (lambda parts: build(parts(), comment=b"abc", end={"comment_length": 2}), "bytes after it|end record"),
    "two disks": (lambda parts: build(parts(), end={"disk": 1}), "split"),
    "other counts of members": (lambda parts: build(parts(), end={"here": 1}), "split|disagree|directory"),
    "a member less": (lambda parts: build(parts(), end={"here": len(parts()) - 1, "count": len(parts()) - 1}), "after the members"),
    "a member more": (lambda parts: build(parts(), end={"here": len(parts()) + 1, "count": len(parts()) + 1}), "not a member|too few|ends in"),
    "another directory": (lambda parts: build(parts(), end={"directory": 0}), "damaged"),
    "two end records that disagree": (lambda parts: build(parts(), end64={"count": 1, "here": 1}), "disagree"),
    "a 64-bit record that is elsewhere": (lambda parts: build(parts(), end64={"place": 0}), "not where its locator"),
    "a 64-bit record of another length": (lambda parts: build(parts(), end64={"left": 45}), "invalid"),
    "a name twice": (lambda parts: build(parts() + [parts()[-1]]), "occurs twice"),
    "a name twice, the same bytes": (lambda parts: build(parts() + [parts()[0]]), "occurs twice"),
    "two entries for one place": (lambda parts: build(parts() + [Entry("archive/x", b"", central={"header": 0})]), "overlaps"),
    "an entry over the next": (lambda parts: build(with_one(parts(), 0, central={"packed": 4000, "size": 4000})), "overlaps|sizes"),
    "other sizes in front": (lambda parts: build(with_one(parts(), 0, local={"size": 3, "packed": 3})), "different sizes"),
    "another CRC in front": (lambda parts: build(with_one(parts(), 0, local={"crc": 1})), "different sizes, CRCs"),
    "another name in front": (lambda parts: renamed(parts()), "different names"),
    "a longer name in front": (lambda parts: build(with_one(parts(), 0, local={"name_length": 3})), "not where|different|does not begin with data.pkl"),
    "another method in front": (lambda parts: build(with_one(parts(), 0, local={"method": 8})), "methods"),
    "a method that is none": (lambda parts: build(with_one(parts(), 0, local={"method": 99}, central={"method": 99})), "method|compressed"),
    "encrypted": (lambda parts: build(with_one(parts(), 0, flags=ENCRYPTED)), "encrypted"),
    "encrypted, says the directory": (lambda parts: build(with_one(parts(), 0, central={"flags": ENCRYPTED})), "encrypted|different"),
    "encrypted, says the member": (lambda parts: build(with_one(parts(), 0, local={"flags": ENCRYPTED})), "different"),
    "a patch": (lambda parts: build(with_one(parts(), 0, flags=0x20)), "patch"),
    "a newer version": (lambda parts: build(with_one(parts(), 0, central={"version": 70})), "newer version"),
    "no header there": (lambda parts: build(with_one(parts(), 0, local={"mark": 0x04034b51})), "is not a PyTorch file|not where"),
    "full sizes without their field": (lambda parts: build(with_one(parts(), 0, central={"size": FULL, "packed": FULL})), "overlaps|extra field"),
    "an extra field that is cut": (lambda parts: build(with_one(parts(), 0, central_extra=struct.pack("<2H", 1, 24) + b"12", central={
        "size": FULL})), "extra field"),
    "stored, of two sizes": (lambda parts: build(with_one(parts(), 0, local={"size": 1}, central={"size": 1})), "sizes differ|compressed|different"),
    "a NUL in a name": (lambda parts: build(parts() + [Entry("archive/x\0.npy", A)]), "NUL"),
}


def renamed(parts):
    whole = bytearray(build(parts))
    whole[30] ^= 1
    return bytes(whole)


def answer(content, kind, *words):
    pathlib.Path("x." + kind).write_bytes(content)
    return run([words[0], "x." + kind, *words[1:]])


def raw_of(content, kind):
    """The bytes of all tensors by name, as `cast` copies them; None if it refuses."""
    done = answer(content, kind, "cast", "fp64", "--keep", "*", "-q", "--force", "-o", "out.safetensors")
    if done.code != 0:
        require_one_line(done, 3)
        return None
    raw = pathlib.Path("out.safetensors").read_bytes()
    size, = struct.unpack_from("<Q", raw)
    header = json.loads(raw[8:8 + size])
    return {name: raw[8 + size + row["data_offsets"][0]:8 + size + row["data_offsets"][1]]
            for name, row in header.items() if name != "__metadata__"}


def by_zipfile(content):
    """The bytes of all members, with verified checksums; None if zipfile refuses any."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as there:
            return {name: there.read(name) for name in there.namelist()}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, struct.error, UnicodeDecodeError,
            OverflowError, ValueError) as error:
        return str(error) and None


def archives():
    for kind, parts in KINDS.items():
        for what, make in READ.items():
            yield what, kind, make(parts)
    for what, content in DEFLATED.items():
        yield what, "npz", content


class Within:
    def __enter__(self):
        self.folder, self.before = tempfile.TemporaryDirectory(prefix="dtinfo-zips-"), os.getcwd()
        os.chdir(self.folder.name)

    def __exit__(self, *_):
        os.chdir(self.before)
        self.folder.cleanup()


@check
def what_is_odd_and_right_is_read():
    with Within():
        for what, kind, content in archives():
            require(by_zipfile(content) is not None, "zipfile refuses", kind, what)
            done = answer(content, kind, "check")
            require(done.code == 0, "refused:", kind, what, done.stdout, done.stderr)
            require(raw_of(content, kind) == WANTED, "other numbers:", kind, what)


@check
def what_is_wrong_is_refused_in_one_line():
    with Within():
        for what, (make, words) in REFUSED.items():
            for kind, parts in KINDS.items():
                content = make(parts)
                line = require_one_line(answer(content, kind, "inspect"), 3)
                require(any(word in line for word in words.split("|")), "another reason:", kind, what, line)
                require(raw_of(content, kind) is None, "read all the same:", kind, what)
                require(answer(content, kind, "check").code == 1, "check:", kind, what)


@check
def damaged_data_fail():
    """Every byte of every member, including data that nothing refers to."""
    with Within():
        for kind, parts in KINDS.items():
            for make in (READ["plain"], READ["all of 64 bits"], READ["descriptors"]):
                ranges, whole = [], make(parts)
                for part in parts():
                    at = whole.index(part.data)
                    ranges += range(at, at + len(part.data), 1 if LONG else 21 if SPARSE else 7)
                for at in ranges:
                    broken = bytearray(whole)
                    broken[at] ^= 0x20
                    done = answer(broken, kind, "check")
                    require(done.code == 1 and b"FAIL  valid" in done.stdout, "byte", at, "of", kind, done.code, done.stdout)


@check
def a_file_without_sums_is_read_and_noted():
    """torch.serialization.set_crc32_options(False) writes 0 for all checksums."""
    with Within():
        nothing = {"local": {"crc": 0}, "central": {"crc": 0}}
        done = answer(build(torch_parts(**nothing)), "pt", "check")
        require(done.code == 0 and b"without checksums" in done.stdout, "no sums:", done.code, done.stdout)
        one = torch_parts(**nothing)
        one[0] = torch_parts()[0]
        require(answer(build(one), "pt", "check").code == 1, "one sum")
        require(answer(build(numpy_parts(**nothing)), "npz", "check").code == 1, "npz without sums")


def same_as(kind, content, base):
    """Whether what check calls valid is what zipfile reads, and the tensors are exactly the existing ones."""
    done = answer(content, kind, "check")
    if done.code != 0:
        require(done.code == 1, "exit code", done.code, done.stderr)
        raw_of(content, kind)
        return False
    there = by_zipfile(content)
    require(there is not None, "zipfile refuses what check calls valid")
    require(sorted(there.values()) == sorted(base.values()), "zipfile reads other bytes", sorted(there))
    numbers = raw_of(content, kind)
    require(sorted(numbers.values()) == sorted(WANTED.values()), "other numbers", numbers)
    if kind == "npz":
        require({name + ".npy" for name in numbers} == {name for name in there if name.endswith(".npy")}, "other names", sorted(there))
    return True


@check
def every_byte_of_every_header_may_be_another():
    """Local headers, descriptors, the directory and both end records."""
    accepted = walked = 0
    with Within():
        step = 15 if SPARSE else 5
        for kind, parts in KINDS.items():
            for what, more in (("plain", {}), ("wide", {"end64": {}})):
                made = parts(wide=what == "wide") if what == "wide" else described(parts())
                ranges = []
                whole = build(made, ranges=ranges, **more)
                base = by_zipfile(whole)
                places = [at for first, last, _ in ranges for at in range(first, last)]
                for number, at in enumerate(places):
                    for mask in (1, 0x80, 0xff) if LONG else ((1, 0x80, 0xff)[number // step % 3],) if number % step == 0 else ():
                        broken = bytearray(whole)
                        broken[at] ^= mask
                        walked += 1
                        try:
                            accepted += same_as(kind, bytes(broken), base)
                        except Exception:
                            print("        byte %d of %s, %s, xor %d" % (at, kind, what, mask))
                            raise
    print("        %d archives, %d of them valid" % (walked, accepted))


if __name__ == "__main__":
    sys.exit(main())
