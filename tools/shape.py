#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The shape of the sources in numbers: how large they are, in how many files one thing is named, what goes in circles.

    shape.py [BUILD] [--circles] [--lint]

With a build folder also the circles of calls between source files, from the symbols of its objects. --lint: the numbers that
must not get worse, and nothing else unless one of them does.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Rows of src/answers/*.def that have one value, and values that only name a member of `me`.
SCALAR = re.compile(r"^\s*(BOOL|UINT|POSITIVE|INT|DOUBLE|MEASURE|TEXT|CHOICE|CHOICE_AT|DTYPE|LEVEL|KIND|FP32|ROUNDED|BITS|FLAG|LIKE_AT|TEXT_AT|TOKEN|LIKE|NUMBER|FIGURE|FIGURE_UNLESS_NAN|SPELLED_LIKE)(_OR_NULL)?\(",
                    re.MULTILINE)
PLAIN = re.compile(r"[!&]?me->\w+(?:\.\w+|->\w+|\[\w+\])*$")


def sources(*folders, endings=(".c", ".h", ".def")):
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*")) if path.suffix in endings]


def lines(*folders):
    return sum(path.read_text(encoding="utf-8").count("\n") for path in sources(*folders))


def code(path):
    """The text of a file without comments."""
    return re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def naming(word):
    """How many files of code in src have a word, whatever its case; a table of rows (.def) is none."""
    return sum(word in code(path).lower() for path in sources("src", endings=(".c", ".h")))


def lines_with(word, outside):
    """Lines of code of src outside a folder that have a word, and the files they are in."""
    found = [sum(word in line for line in code(path).splitlines()) for path in sources("src")
             if ROOT / outside not in path.parents]
    return sum(found), sum(count > 0 for count in found)


def prototypes():
    """Functions that the headers of include declare."""
    return sum(len(re.findall(r"^[a-z][^\n;{}#]*\bdti_\w+\([^;{}]*\)[^;{}]*;", code(path), re.MULTILINE)) for path in sources("include"))


def longest_function():
    """Lines between the braces of the longest function of src."""
    longest = 0
    for path in sources("src", endings=(".c", ".h")):
        begin = 0
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line == "{":
                begin = number
            elif line == "}":
                longest = max(longest, number - begin - 1 if begin else 0)
                begin = 0
    return longest


def files_of_folders():
    return [sum(path.is_file() for path in folder.iterdir()) for folder in (ROOT / "src").rglob("*") if folder.is_dir()]


def arguments(text):
    """Those of a row from its opening parenthesis on: split at commas outside parentheses and quotes."""
    found, depth, quoted, begin = [], 0, False, 1
    for at, letter in enumerate(text):
        if letter == '"' and text[at - 1] != "\\":
            quoted = not quoted
        elif not quoted and letter in "([{":
            depth += 1
        elif not quoted and letter in ")]}":
            depth -= 1
        if not quoted and (depth == 1 and letter == "," or depth == 0):
            found.append(" ".join(text[begin:at].split()))
            begin = at + 1
        if depth == 0:
            break
    return found


def rows():
    """The scalar rows of answers, those of them that only name members, and the blocks of statements."""
    scalar = plain = blocks = 0
    for path in sources("src/answers", endings=(".def",)):
        text = code(path)
        blocks += len(re.findall(r"^\s*DO\(", text, flags=re.MULTILINE))
        for match in SCALAR.finditer(text):
            skipped = 2 if match.group(1) in ("CHOICE", "CHOICE_AT", "KIND", "LIKE", "SPELLED_LIKE", "TEXT_AT") else 1  # the key; words or a pattern
            values = arguments(text[match.end() - 1:])[3 if match.group(1) == "LIKE_AT" else skipped:-1]
            values = values[:-1] if match.group(1) == "FLAG" else values
            scalar += 1
            plain += all(PLAIN.fullmatch(value) for value in values)
    return scalar, plain, blocks


def calls(build):
    """{object file: the others whose functions it names}."""
    home, wanted = {}, collections.defaultdict(set)
    objects = [str(path) for path in sorted(pathlib.Path(build, "src").rglob("*.c.o"))]
    listed = subprocess.run(["nm", "-g", "-A", *objects], stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout
    for line in listed.splitlines():
        path, _, symbol = line.partition(".c.o:")
        *_, kind, name = symbol.split()
        if kind == "U":
            wanted[path].add(name)
        elif kind == "T":
            home[name] = path
    return {one: {home[name] for name in names if name in home} - {one} for one, names in wanted.items()}


def circles(graph):
    """The sets of files of which each leads to each other one: Tarjan's strongly connected components."""
    order, low, stack, found = {}, {}, [], []
    for root in graph:
        work = [] if root in order else [(root, iter(graph[root]))]
        for one, _ in work:
            order[one] = low[one] = len(order)
            stack.append(one)
        while work:
            one, rest = work[-1]
            following = next((other for other in rest if other not in order), None)
            if following:
                order[following] = low[following] = len(order)
                stack.append(following)
                work.append((following, iter(graph.get(following, ()))))
                continue
            work.pop()
            low[one] = min([low[one]] + [low[other] for other in graph.get(one, ()) if other in stack])
            if low[one] == order[one]:
                at = stack.index(one)
                found.append(sorted(stack[at:]))
                del stack[at:]
    return sorted((one for one in found if len(one) > 1), key=len, reverse=True)


def measure(build):
    """[(number or numbers, name, the most that each may be, or None)]."""
    scalar, plain, blocks = rows()
    table = [((lines("src"),), "lines of src", None), ((lines("include"),), "lines of include", None),
             ((lines("src/files"),), "lines of src/files", None),
             ((naming("gptq"),), "files that name gptq", (3,)), ((naming("modelopt"),), "files that name modelopt", (4,)),
             (lines_with("DTI_CONTAINER_", "src/containers"), "DTI_CONTAINER_ outside src/containers: lines, files", (5, 5)),
             ((scalar - plain, scalar), "rows of answers with one value that do not only name members, all of them",
              (scalar // 20, scalar)),
             ((blocks,), "blocks of statements between rows", (0,)),
             ((longest_function(),), "lines of the longest function of src", (60,)),
             ((max(files_of_folders()),), "files of the largest folder of src", (40,)),
             ((len(sources("include")), prototypes()), "headers of include, functions they declare", (12, 60))]
    if build:
        found = circles(calls(build))
        table.append(((len(found), sum(map(len, found))), "circles of calls: circles, files in them", (3, 9)))
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", nargs="?", type=pathlib.Path)
    parser.add_argument("--circles", action="store_true", help="list them")
    parser.add_argument("--lint", action="store_true", help="fail where a number is beyond its limit")
    options = parser.parse_args()
    table = measure(options.build)
    beyond = [(name, numbers, most) for numbers, name, most in table if most and any(a > b for a, b in zip(numbers, most))]
    for name, numbers, most in beyond if options.lint else ():
        print(f"{name}: {', '.join(map(str, numbers))}; at most {', '.join(map(str, most))}")
    if options.lint and beyond:
        return 1
    for numbers, name, _ in table if not options.lint else ():
        print(f"{', '.join(map(str, numbers)):>14}  {name}")
    if options.build and options.circles:
        print("\n".join(" ".join(path.rpartition("/")[2] for path in one) for one in circles(calls(options.build))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
