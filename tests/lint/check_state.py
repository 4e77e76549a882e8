#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Below the command line no variable of the process changes, except those that state.tsv lists with a reason.
usage: check_state.py OBJDUMP LIB..."""
import pathlib
import re
import subprocess
import sys

# An address, flags, the section, a tab, the size, the name; before a hidden name ".hidden".
VARIABLE = re.compile(r"^\w+ .{7} (\S+)\t\w+ (?:\.hidden )?(\S+)$")
CHANGES = re.compile(r"\.(data|bss)|\*COM\*|\.(s|l)?(data|bss)")
CONSTANT = re.compile(r"\.data\.rel\.ro")
SANITIZER = re.compile(r"__(odr_)?(asan|ubsan|msan|tsan|sancov)|\.L|\.str|__sanc|switch\.table")


def variables(objdump, library):
    listing = subprocess.run([objdump, "-t", library], stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout
    layer, member = re.sub(r"^lib|\.a$", "", pathlib.Path(library).name), ""
    for line in listing.splitlines():
        named = re.match(r"(?:\S*?lib([a-z]+)\w*\.a\.p/)?(\S+)\.c\.o:\s+file format", line)
        if named:
            layer, member = named.group(1) or layer, named.group(2).split("/")[-1]
        found = VARIABLE.match(line)
        if not found or " O " not in line and "*COM*" not in line:
            continue
        section, name = found.groups()
        if CHANGES.match(section) and not CONSTANT.match(section) and not SANITIZER.match(name):
            yield layer, member, re.sub(r"\.\d+$", "", name)


def main():
    table, rows = pathlib.Path(__file__).with_name("state.tsv"), []
    for line in table.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            layer, file, name, why = line.split("\t")
            assert why
            rows.append((layer, file, name))
    problems, used = [], set()
    for library in sys.argv[2:]:
        for layer, member, name in variables(sys.argv[1], library):
            row = next((r for r in rows if r[0] == layer and r[2] == name and re.search(r"(^|_)%s$" % r[1], member)), None)
            used.add(row)
            if not row:
                problems.append("%s: %s.c has a variable that changes, %s: give it to a caller (util/run/caller.h), or a row in state.tsv"
                                % (layer, member, name))
    layers = {re.sub(r"^lib|\.a$", "", pathlib.Path(library).name) for library in sys.argv[2:]}
    problems += ["state.tsv: %s: %s.c has no variable %s" % row for row in rows if row not in used and row[0] in layers
                 and row[1] not in ("gpu_program", "curl", "multi_library")]  # of optional parts
    print("\n".join(problems + ["state of the process, %d variables: %d problems" % (len(used - {None}), len(problems))]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
