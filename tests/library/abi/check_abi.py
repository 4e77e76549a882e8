#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The interface of libdtinfo is the recorded one: each function's declaration, each enumerator's number, the offset,
size and type of each member. What a new version may do: add functions, add enumerators, add members at the end of a struct
that begins with its size. Then `--update` records it; anything else needs another soversion.

usage: check_abi.py INCLUDE-FOLDER RECORD SHARED-LIBRARY NM COMPILER... [--update]"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

RULE = "an installed program would break: give the library another soversion, or leave it as it was"


def headers(folder):
    return [folder / "dtinfo.h"] + sorted((folder / "dtinfo").glob("*.h"))


def plain(text):
    """A header without comments, directives and line ends."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    text = re.sub(r"^[ \t]*#.*(?:\\\n.*)*", "", text, flags=re.MULTILINE).replace('extern "C" {', "")
    return re.sub(r"\s+", " ", text)


def declared(text):
    """name -> declaration of functions, and of function types."""
    found = {}
    for match in re.finditer(r"(?:DTI_PUBLIC|typedef) ([^;{]*?\b\*?(dti_\w+)\([^;{]*\));", text):
        found[match.group(2)] = match.group(1).strip()
    return found


def structs(text):
    """name -> [(member, type)] of the structs whose members are known."""
    found = {}
    for name, body in re.findall(r"struct (dti_\w+) \{(.*?)\}", text):
        members = []
        for line in filter(None, (part.strip() for part in body.split(";"))):
            pointer = re.search(r"\(\*(\w+)\)", line)
            if pointer:
                members.append((pointer.group(1), line.replace("(*%s)" % pointer.group(1), "(*)")))
                continue
            start = re.match(r"((?:const )?(?:struct |enum )?\w+) ?(.*)", line)
            for part in start.group(2).split(","):
                member = re.search(r"(\w+)((?:\[\w+\])*)$", part.strip())
                members.append((member.group(1), (start.group(1) + " " + part.strip().replace(member.group(1), "", 1)).strip()))
        found[name] = members
    return found


def enumerators(text):
    return [name for body in re.findall(r"enum (?:dti_\w+ )?\{(.*?)\}", text)
            for name in re.findall(r"\b(DTI_\w+)\b(?= ?[=,}]| ?$)", body)]


def measured(folder, compiler, text):
    """Offsets and numbers, as a program that includes the header sees them."""
    lines = []
    for name, members in structs(text).items():
        lines.append('printf("size\\t%s\\t%%zu\\n", sizeof(struct %s));' % (name, name))
        for member, _ in members:
            lines.append('printf("offset\\t%s.%s\\t%%zu\\n", offsetof(struct %s, %s));' % (name, member, name, member))
    for name in enumerators(text):
        lines.append('printf("number\\t%s\\t%%lld\\n", (long long)%s);' % (name, name))
    with tempfile.TemporaryDirectory() as work:
        source = pathlib.Path(work) / "probe.c"
        source.write_text("#include <stddef.h>\n#include <stdio.h>\n#include <dtinfo.h>\nint main(void)\n{\n%s\nreturn 0;\n}\n"
                          % "\n".join(lines), encoding="utf-8")
        program = source.with_suffix("")
        subprocess.run(compiler + ["-std=c11", "-w", "-I", str(folder), "-o", str(program), str(source)], check=True)
        out = subprocess.run([str(program)], check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
    return dict((("%s %s" % tuple(line.split("\t")[:2])), line.split("\t")[2]) for line in out.splitlines())


def interface(folder, compiler):
    text = " ".join(plain(path.read_text(encoding="utf-8")) for path in headers(folder))
    rows = measured(folder, compiler, text)
    rows.update({"function " + name: line for name, line in declared(text).items()})
    for name, members in structs(text).items():
        rows.update({"type %s.%s" % (name, member): kind for member, kind in members})
    return rows


def compare(old, new):
    sized = {key.split()[1] for key in new if key.startswith("offset ") and key.endswith(".size") and new[key] == "0"}
    sized = {name.rsplit(".", 1)[0] for name in sized}
    for key, value in old.items():
        what, name = key.split()
        if key not in new:
            yield "%s %s is gone: %s" % (what, name, RULE)
        elif new[key] != value:
            if what == "size" and name in sized and int(new[key]) > int(value):
                continue
            yield "%s %s was '%s' and is '%s': %s" % (what, name, value, new[key], RULE)
    for key in new:
        what, name = key.split()
        if what == "offset" and key not in old and "size " + name.split(".")[0] in old:
            struct = name.split(".")[0]
            if struct not in sized:
                yield "%s is new in a struct that never changes: %s" % (name, RULE)
            elif int(new[key]) < max(int(old[k]) for k in old if k.startswith("offset %s." % struct)):
                yield "%s is new and not at the end of its struct: %s" % (name, RULE)


def exported(library, nm):
    listing = subprocess.run([nm, "-D", "--defined-only", str(library)], check=True, stdout=subprocess.PIPE,
                             universal_newlines=True).stdout
    return {line.split()[2].split("@")[0] for line in listing.splitlines() if line.split()[1] != "A"}


def described(folder, compiler, functions, abidw, work):
    """The interface as abidw describes it: of a library of empty functions, which has no types but those of the headers."""
    source = pathlib.Path(work) / "empty.c"
    lines = ["%s\n{\n    __builtin_trap();\n}\n" % declaration for name, declaration in sorted(functions.items())
             if not name.endswith("_fn")]
    source.write_text("#include <dtinfo.h>\n" + "".join(lines), encoding="utf-8")
    library = source.with_name("libdtinfo.so.0")
    subprocess.run(compiler + ["-std=c11", "-w", "-g", "-shared", "-fPIC", "-I", str(folder.resolve()), "-o", str(library),
                               source.name], check=True, cwd=work)
    out = library.with_suffix(".abi")
    subprocess.run([abidw, "--no-show-locs", "--no-comp-dir-path", "--no-corpus-path", "--out-file", str(out), str(library)],
                   check=True)
    return out


def judged(folder, compiler, functions, record, update):
    """What abidiff says of the recorded description; nothing where libabigail is missing."""
    abidw, abidiff = shutil.which("abidw"), shutil.which("abidiff")
    if not abidw or not abidiff:
        print("abidw and abidiff are missing: the record %s was not compared" % record.name)
        return
    with tempfile.TemporaryDirectory() as work:
        new = described(folder, compiler, functions, abidw, work)
        if update:
            record.write_bytes(new.read_bytes())
        done = subprocess.run([abidiff, "--no-added-syms", str(record), str(new)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True)
        if done.returncode != 0:
            yield "abidiff: %s" % done.stdout


def main():
    arguments = [word for word in sys.argv[1:] if word != "--update"]
    folder, record, library, nm = pathlib.Path(arguments[0]), pathlib.Path(arguments[1]), arguments[2], arguments[3]
    new = interface(folder, arguments[4:])
    functions = {key.split()[1] for key in new if key.startswith("function ") and not key.endswith("_fn")}
    problems = []
    symbols = exported(library, nm)
    problems += ["%s is exported, and no header declares it" % name for name in sorted(symbols - functions)]
    problems += ["%s is declared, and the library does not export it" % name for name in sorted(functions - symbols)]
    if "--update" in sys.argv:
        record.write_text("".join("%s\t%s\n" % (key.replace(" ", "\t"), new[key]) for key in sorted(new)), encoding="utf-8")
    old = {}
    for line in record.read_text(encoding="utf-8").splitlines():
        what, name, value = line.split("\t")
        old["%s %s" % (what, name)] = value
    problems += compare(old, new)
    fresh = sorted(set(new) - set(old))
    if fresh:
        problems.append("not recorded yet: %s ...; run %s --update" % (", ".join(fresh[:3]), sys.argv[0]))
    declarations = {key.split()[1]: line for key, line in new.items() if key.startswith("function ")}
    problems += judged(folder, arguments[4:], declarations, record.with_name("libdtinfo.abi"), "--update" in sys.argv)
    for problem in problems:
        print(problem)
    print("interface: %d functions, %d facts, %d problems" % (len(functions), len(new), len(problems)))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
