#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the compiler and the linker do against errors of memory is in the program, and not only in the
build's words for it. usage: check_hardening.py PROGRAM COMPILE_COMMANDS FORTIFY FLAG...

FLAG: those of the compiler that must be in each command, as far as it knows them. FORTIFY: yes or no."""
import json
import os
import struct
import sys

import tree

PT_LOAD, PT_DYNAMIC, PT_INTERP, PT_STACK, PT_RELRO = 1, 2, 3, 0x6474E551, 0x6474E552
DT_TEXTREL, DT_RPATH, DT_BIND_NOW, DT_RUNPATH, DT_FLAGS, DT_FLAGS_1 = 22, 15, 24, 29, 30, 0x6FFFFFFB
X86_64 = 62
ENDBR64 = b"\xf3\x0f\x1e\xfa"
# sub $0x1000, %rsp; then orq $0, (%rsp) of gcc, or movq $0, (%rsp) of clang
PAGE = b"\x48\x81\xec\x00\x10\x00\x00"
PROBES = (PAGE + b"\x48\x83\x0c\x24\x00", PAGE + b"\x48\xc7\x04\x24\x00\x00\x00\x00")


class Elf:
    """As much of a 64-bit file as is asked here."""

    def __init__(self, data):
        self.data = data
        order = "<" if data[5] == 1 else ">"
        self.type, self.machine = struct.unpack_from(order + "HH", data, 16)
        programs, sections = struct.unpack_from(order + "QQ", data, 32)
        size, count, section_size, section_count = struct.unpack_from(order + "HHHH", data, 54)
        self.order = order
        self.segments = [struct.unpack_from(order + "IIQQQQQQ", data, programs + i * size)
                         for i in range(count)]
        self.sections = [struct.unpack_from(order + "IIQQQQIIQQ", data, sections + i * section_size)
                         for i in range(section_count)]

    def segment(self, kind):
        return next((segment for segment in self.segments if segment[0] == kind), None)

    def dynamic(self):
        _, _, offset, _, _, size, _, _ = self.segment(PT_DYNAMIC)
        pairs = struct.iter_unpack(self.order + "qQ", self.data[offset:offset + size])
        return {tag: value for tag, value in pairs}

    def symbols(self, kind):
        """(name, info, section, address) of a table: 2 is all, 11 those for the linker at run time."""
        for _, section, _, _, offset, size, link, _, _, _ in self.sections:
            if section != kind:
                continue
            names = self.sections[link][4]
            for at in range(offset, offset + size, 24):
                name, info, _, place, address, _ = struct.unpack_from(self.order + "IBBHQQ", self.data, at)
                end = self.data.index(b"\0", names + name)
                yield self.data[names + name:end].decode(), info, place, address

    def bytes_at(self, address, count):
        for kind, _, offset, start, _, size, _, _ in self.segments:
            if kind == PT_LOAD and start <= address < start + size:
                at = offset + address - start
                return self.data[at:at + count]
        return b""


def check_loading(elf, problems):
    stack, dynamic = elf.segment(PT_STACK), elf.dynamic()
    if elf.type != 3 or not elf.segment(PT_INTERP):
        problems.append("the program is no position-independent executable")
    if stack is None or stack[1] & 1:
        problems.append("the stack is executable")
    if any(kind == PT_LOAD and flags & 3 == 3 for kind, flags, *_ in elf.segments):
        problems.append("a segment is both writable and executable")
    if not elf.segment(PT_RELRO):
        problems.append("there is no RELRO segment")
    if not (DT_BIND_NOW in dynamic or dynamic.get(DT_FLAGS, 0) & 8 or dynamic.get(DT_FLAGS_1, 0) & 1):
        problems.append("symbols are bound late: the table of functions stays writable")
    if DT_TEXTREL in dynamic or dynamic.get(DT_FLAGS, 0) & 4:
        problems.append("code is relocated")
    if DT_RPATH in dynamic or (DT_RUNPATH in dynamic):
        problems.append("libraries are looked for in a path of the build")


def check_code(elf, fortify, flags, problems):
    wanted = {name for name, _, place, _ in elf.symbols(11) if place == 0}
    if "__stack_chk_fail" not in wanted:
        problems.append("no function checks its stack (-fstack-protector-strong)")
    if fortify and not any(name.endswith("_chk") for name in wanted):
        problems.append("no call of the C library is checked (_FORTIFY_SOURCE)")
    if elf.machine != X86_64:
        return 0
    functions = [(name, address) for name, info, place, address in elf.symbols(2)
                 if info == 0x12 and place != 0 and name.startswith("dti_")]
    if not functions:
        problems.append("no function was found")
    for name, address in functions:
        if "-fcf-protection" in flags and elf.bytes_at(address, 4) != ENDBR64:
            problems.append("%s does not begin with endbr64 (-fcf-protection)" % name)
    if "-fstack-clash-protection" in flags and not any(probe in elf.data for probe in PROBES):
        problems.append("no function with a large frame touches each page of it "
                        "(-fstack-clash-protection)")
    return len(functions)


def check_commands(path, flags, problems):
    with open(path, encoding="utf-8") as file:
        commands = [(entry["file"], entry["command"].split()) for entry in json.load(file)]
    own = [(name, words) for name, words in commands if "/src/" in name.replace(os.sep, "/")]
    for name, words in own:
        for flag in flags:
            if flag not in words:
                problems.append("%s is compiled without %s" % (name, flag))
    if not own:
        problems.append("%s names no file of src" % path)


def main():
    program, commands, fortify, flags = sys.argv[1], sys.argv[2], sys.argv[3] == "yes", sys.argv[4:]
    problems = []
    with open(program, "rb") as file:
        data = file.read()
    check_commands(commands, flags, problems)
    if data[:5] != b"\x7fELF\x02":
        print("skipped: the program is no 64-bit ELF file")
        return 77 if not problems else tree.report(problems, "commands")
    elf = Elf(data)
    check_loading(elf, problems)
    count = check_code(elf, fortify, flags, problems)
    return tree.report(problems, "%d functions" % count)


if __name__ == "__main__":
    sys.exit(main())
