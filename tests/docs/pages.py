# SPDX-License-Identifier: MIT
"""Reads the documents for the tests: paths, sections, examples, and the program's description of itself.
This module does not depend on how the generated parts of the pages are made."""

import contextlib
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MAN = sorted((ROOT / "man").glob("*.scd"))
PARTS = ("docs/sample", "docs/examples/vectors")       # that examples in the pages may name
README = ROOT / "README.md"
MARKDOWN = [README, *sorted((ROOT / "docs").glob("*.md"))]


sys.path.insert(0, str(ROOT / "tests" / "makers"))
import make_checkpoint  # noqa: E402


@functools.lru_cache(maxsize=None)
def checkpoint_files():
    with tempfile.TemporaryDirectory(prefix="dtinfo-examples-") as name:
        folder = pathlib.Path(name)
        make_checkpoint.write_single(folder)
        make_checkpoint.write_sharded(folder)
        make_checkpoint.write_others(folder)
        return {path.name: path.read_bytes() for path in folder.iterdir()} | {
            f"{part}/{path.name}": path.read_bytes()
            for part in PARTS for path in (ROOT / part).iterdir() if path.is_file()}


@contextlib.contextmanager
def checkpoints():
    """A working directory with the files that examples may name: model.safetensors, the same in two shards
    with model.safetensors.index.json, weights.npy, arrays.npz, model.gguf; and PARTS."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="dtinfo-examples-") as name:
        for part in PARTS:
            (pathlib.Path(name) / part).mkdir(parents=True)
        for file, data in checkpoint_files().items():
            (pathlib.Path(name) / file).write_bytes(data)
        os.chdir(name)
        try:
            yield pathlib.Path(name)
        finally:
            os.chdir(before)


def plain_environment(program, **extra):
    """Returns an environment without the user's settings, except those of sanitizers. `dtinfo` in its
    PATH is the program."""
    path = os.pathsep.join([str(pathlib.Path(program).resolve().parent),
                            os.environ.get("PATH", os.defpath)])
    kept = {name: text for name, text in os.environ.items() if name.endswith("SAN_OPTIONS")}
    return {"PATH": path, "LC_ALL": "C", "HOME": "/nonexistent", "TERM": "dumb", **kept, **extra}


def run(program, *words, stdin="", **extra):
    return subprocess.run([program, *words], input=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8", timeout=60,
                          env=plain_environment(program, **extra))


def introspect(program):
    return json.loads(run(program, "__introspect").stdout)


def block_formats(program):
    """Returns the names of the block formats."""
    return {block["name"] for block in
            json.loads(run(program, "list", "--json").stdout)["block_formats"]}


def encoded_types(program):
    """Returns the GGUF types that the help of quant lists."""
    listed = re.search(r"\n  in gguf +(.*(?:\n {11}.*)*)", run(program, "quant", "--help").stdout).group(1)
    return set(re.findall(r"\w+", listed))


def unescape(text):
    """Removes scdoc's backslashes."""
    return re.sub(r"\\(.)", r"\1", text)


class Page:
    """A man page's source."""

    def __init__(self, path):
        self.path = path
        self.name = path.name.removesuffix(".scd")
        self.lines = path.read_text(encoding="utf-8").split("\n")
        self.sections = {}
        title = ""
        literal = False
        for line in self.lines:
            literal ^= line.startswith("```")
            if line.startswith("# ") and not literal:
                title = line[2:]
            elif not line.startswith("; "):
                self.sections.setdefault(title, []).append(line)

    def text(self, section=None):
        """Returns all text, or that of a section, without escapes."""
        if section is None:
            return "\n".join(self.text(title) for title in self.sections)
        return unescape("\n".join(self.sections.get(section, [])))

    def terms(self, section):
        """Returns the terms of the section's definition list: the lines before an indented one."""
        lines = self.sections.get(section, [])
        return [unescape(line) for line, following in zip(lines, [*lines[1:], ""])
                if line and not line.startswith("\t") and following.startswith("\t")]


class Example:
    """A block of commands, each with its output."""

    def __init__(self, path, line, steps):
        self.path, self.line, self.steps = path, line, steps

    def where(self):
        return f"{self.path.relative_to(ROOT)}:{self.line}"


def examples(path):
    """The fenced blocks of a page or of a Markdown file in which a line begins with `$ `."""
    man = path.suffix == ".scd"
    found, block, start = [], None, 0
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line.startswith("```"):
            if block is not None:
                block.append(unescape(line) if man else line)
        elif block is None:
            block, start = [], number + 1
        else:
            steps = []
            for text in block:
                if text.startswith("$ "):
                    steps.append((text[2:], []))
                elif steps:
                    steps[-1][1].append(text)
            if steps:
                found.append(Example(path, start, steps))
            block = None
    return found


class Judge:
    """Counts what was checked and prints what was wrong."""

    def __init__(self):
        self.checks = self.failures = 0

    def check(self, right, message):
        self.checks += 1
        if not right:
            self.failures += 1
            print("FAIL", message)

    def finish(self, at_least):
        """Prints the totals and returns the exit status. Fewer than at_least checks are a failure, too."""
        if self.checks < at_least:
            print(f"FAIL only {self.checks} checks, expected {at_least} or more")
            self.failures += 1
        print(f"{self.checks} checks, {self.failures} failures")
        return 1 if self.failures else 0
