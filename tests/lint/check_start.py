#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What every start of the program costs before main(), counted in the file: shared libraries, constructors, and the
pages in which the loader changes pointers. What src/cli/start.ld places side by side must exist.
usage: check_start.py PROGRAM LIBM BUILD

LIBM: yes where libm may be needed."""
import os
import re
import struct
import sys

import tree
from check_hardening import Elf

DT_NEEDED, DT_STRTAB, DT_INIT_ARRAYSZ, PT_RELRO = 1, 5, 27, 0x6474E552
CONSTRUCTORS = 2
RELRO_LIMIT = 88 * 1024  # each page is copied at a start, for 0.005 of the time of /bin/true


def absent(build):
    """The objects that start.ld names and the build does not have."""
    with open(os.path.join(tree.ROOT, "src", "cli", "start.ld")) as file:
        named = re.findall(r"^\s+\*/(lib\w+\.a\.p)/(\S+\.o)\(", file.read(), re.M)
    built = {os.path.join(os.path.basename(folder), name) for folder, _, names in os.walk(os.path.join(build, "src")) for name in names}
    return sorted({name for library, name in named if os.path.join(library, name) not in built} | ({"all"} if not named else set()))


def main():
    program, libm = sys.argv[1], sys.argv[2] == "yes"
    with open(program, "rb") as file:
        data = file.read()
    if data[:5] != b"\x7fELF\x02":
        print("skipped: the program is no 64-bit ELF file")
        return 77
    elf = Elf(data)
    _, _, offset, _, _, size, _, _ = elf.segment(2)
    pairs = list(struct.iter_unpack(elf.order + "qQ", data[offset:offset + size]))
    values = dict(pairs)
    problems = []
    needed = [elf.bytes_at(values[DT_STRTAB] + value, 64).split(b"\0")[0].decode()
              for tag, value in pairs if tag == DT_NEEDED]
    if not libm and "libm.so.6" in needed:
        problems.append("libm.so.6 is loaded at every start: ask util/run/mathematics.h for its functions")
    if values.get(DT_INIT_ARRAYSZ, 0) > CONSTRUCTORS * 8:
        problems.append("%d constructors run before main(); one is the compiler's, one nettle's" % (values[DT_INIT_ARRAYSZ] // 8))
    problems += ["%s is no object that is built: tools/start-order.py writes src/cli/start.ld" % name for name in absent(sys.argv[3])]
    relro = elf.segment(PT_RELRO)
    if relro[6] > RELRO_LIMIT:
        problems.append("%d bytes of tables hold pointers, which are relocated at every start; the limit is %d (see CONTRIBUTING.md)"
                        % (relro[6], RELRO_LIMIT))
    return tree.report(problems, "%d bytes of tables with pointers" % relro[6])


if __name__ == "__main__":
    sys.exit(main())
