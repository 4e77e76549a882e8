#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Static analysis of src: clang-tidy with the checks of .clang-tidy, among them clang's analyzer (which scan-build runs), and
gcc -fanalyzer. Both follow the paths through each function, which takes minutes. Prints what they find; the last line is
"no findings" or the number. A tool that is missing is named and left out; without any the exit code is 77. "checks" is
clang-tidy without the analyzer: what it finds in each line, in a fifth of the time.

    tests/lint/analyse.py                          both, all of src
    tests/lint/analyse.py tidy src/io src/util     clang-tidy alone, in these folders or files
    tests/lint/analyse.py checks
"""
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import tree

FINDING = re.compile(r"^\S+:\d+:\d+: (warning|error): ", re.M)
# Header, where it may be included, functions that always return a failure.
FAILING = [
    ("util/remedy.h", "src/", []),
    ("util/error.h", "src/", ["dti_fail", "dti_fail_remedy", "dti_fail_word", "dti_no_memory"]),
    ("containers/opening.h", "src/containers/", ["dti_opening_refuse", "dti_opening_refuse_of", "dti_opening_no_memory",
                                                 "dti_opening_refuse_json"]),
    ("io/input.h", "src/files/", ["dti_input_fail"]),
]
# In place: clang's analyzer follows calls five deep, and a function around this one would be one more.
FAILURE = "__extension__({ const %s analysed = %s(__VA_ARGS__); if (%s) __builtin_unreachable(); analysed; })"
# What gcc's analyzer cannot judge. Where a loop sets each element of an array, it takes the last ones for unset; valgrind, which runs
# the kernels, does not. There are random bits where rounding is stochastic, which it forgets from one line to the next.
UNJUDGED = {"src/kernels/": ["-Wno-analyzer-use-of-uninitialized-value"],
            "src/kernels/cast/lanes_encode.c": ["-Wno-analyzer-null-dereference"],
            "src/kernels/cast/taper_scalar.c": ["-Wno-analyzer-null-dereference"]}
# .clang-tidy is written for one version: others have other checks.
TIDY = next((name for name in ("clang-tidy-14", "clang-tidy") if shutil.which(name)), None)


class Build:
    """A build folder that knows the command of each file, with the headers that the build makes, and nothing else. It is made with
    assertions, from which both tools learn."""

    def __init__(self, name, compiler):
        self.folder = os.path.join(str(tree.ROOT), name)
        if not os.path.exists(os.path.join(self.folder, "build.ninja")):
            subprocess.run(["meson", "setup", self.folder, str(tree.ROOT), "-Dbuildtype=plain", "-Db_ndebug=false", "-Doptimization=2"],
                           check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, CC=compiler))
        targets = subprocess.run(["ninja", "-C", self.folder, "-t", "targets", "all"], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout
        made = re.findall(r"^(src/\S+\.(?:h|def|inc)): CUSTOM_COMMAND", targets, re.M)
        if made:
            subprocess.run(["ninja", "-C", self.folder] + made, check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(self.folder, "compile_commands.json"), encoding="utf-8") as file:
            rows = json.load(file)
        self.commands = {os.path.relpath(os.path.join(self.folder, row["file"]), str(tree.ROOT)): shlex.split(row["command"])
                         for row in rows}


def known(build, name):
    """Options for a file that tell an analyser what it cannot see in it: that functions which report a failure return one."""
    text = (tree.ROOT / name).read_text(encoding="utf-8")
    if name.startswith("src/devices/cuda/"):
        return []
    lines = ['#include "%s"' % header for header, of, _ in FAILING if name.startswith(of)]
    for _, of, functions in FAILING:
        for function in functions if name.startswith(of) else []:
            if not re.search(r"^(bool|enum dti_status) %s\(" % function, text, re.M): # not in the file that has its body
                kind, good = ("bool", "analysed") if "opening" in function else ("enum dti_status", "analysed == 0")
                lines.append("#define %s(...) %s" % (function, FAILURE % (kind, function, good)))
    path = os.path.join(build.folder, "analysed-" + name.replace("/", "-") + ".h")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    more = ["-D_GNU_SOURCE="] if re.search(r"^#define _\w+_SOURCE\b", text, re.M) else [] # that define comes after the headers here
    return more + ["-include", path]


def text_of(words, folder):
    done = subprocess.run(words, cwd=folder, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = re.sub(r"^(?:\.\./|%s/(?:[^/\s]+/\.\./)?)(?=src/|include/)" % re.escape(str(tree.ROOT)), "", done.stdout, flags=re.M)
    text = re.sub(r"^\d+ warnings? generated\.\n", "", text, flags=re.M)
    if done.returncode != 0 and not FINDING.search(text):
        return "%s:1:1: error: exit code %d: %s\n" % (words[-1], done.returncode, text[-400:])
    return text


def tidy(build, name, *options):
    extra = ["--extra-arg=" + word for word in known(build, name)]
    return text_of([TIDY, "-p", build.folder, "--quiet", *options] + extra + [os.path.join(str(tree.ROOT), name)], build.folder)


def checks(build, name):
    return tidy(build, name, "--checks=-clang-analyzer-*")


def gcc(build, name):
    words = iter(build.commands[name])
    kept = [word for word in words if word != "-MD" and not (word in ("-o", "-MQ", "-MF") and next(words))]
    kept += [word for folder, more in UNJUDGED.items() if name.startswith(folder) for word in more]
    return text_of(kept + known(build, name) + ["-o", "/dev/null", "-fanalyzer", "-fdiagnostics-plain-output"], build.folder)


TOOLS = {"tidy": (TIDY, "build-tidy", "clang", tidy), "checks": (TIDY, "build-tidy", "clang", checks),
         "gcc": ("gcc", "build-analyzed", "gcc", gcc)}


def main():
    tools = [word for word in sys.argv[1:] if word in TOOLS] or ["tidy", "gcc"]
    wanted = [word.rstrip("/") for word in sys.argv[1:] if word not in TOOLS] or ["src"]
    missing, findings = 0, set()
    for tool in tools:
        program, folder, compiler, function = TOOLS[tool]
        if not program or not shutil.which(program) or not shutil.which(compiler):
            print("%s: the program is missing, nothing was analysed" % tool)
            missing += 1
            continue
        build = Build(folder, compiler)
        names = sorted(name for name in build.commands if any(name == word or name.startswith(word + "/") for word in wanted))
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
            for text in pool.map(lambda name: function(build, name), names):
                new = [line for line in text.splitlines() if FINDING.match(line) and line not in findings]
                if new: # a header's are in every file that includes it
                    print(text, end="", flush=True)
                findings.update(new)
        print("%s: %d files" % (tool, len(names)), flush=True)
        if not names:
            return 1
    if missing == len(tools):
        return 77
    print("%d findings" % len(findings) if findings else "no findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
