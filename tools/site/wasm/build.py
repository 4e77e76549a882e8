#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the commands of values to WebAssembly, for the page that computes.

    build.py OUTPUT.wasm [--objects FOLDER] [--sysroot /usr]

The sources are those of the program (sources.txt); clang with its target wasm32, wasm-ld and wasi-libc do the rest
(Debian: clang lld wasi-libc libclang-rt-14-dev-wasm32). Only what changed is compiled again, and with ccache, if that is
installed, only what it has not seen. Ends with 77 if a tool is missing, and says which.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SKIPPED = 77
LIMIT = 1 << 20
STACK = 1 << 20

# As meson.build has them; numbers do not depend on the level.
FLAGS = ["--target=wasm32-wasi", "-nostdlibinc", "-std=c11", "-Oz", "-ffp-contract=off", "-fno-math-errno",
         "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections", "-Wall", "-Werror=implicit-function-declaration",
         "-D_POSIX_C_SOURCE=200809L", "-D_FILE_OFFSET_BITS=64", "-DNDEBUG", "-DDTI_LANES=scalar",
         "-D_WASI_EMULATED_SIGNAL", "-D_WASI_EMULATED_MMAN", "-D_WASI_EMULATED_GETPID"]
EMULATED = ["libwasi-emulated-signal.a", "libwasi-emulated-mman.a", "libwasi-emulated-getpid.a", "libc.a"]


def lines(name):
    """The lines of a list next to this script, without comments."""
    text = (HERE / name).read_text(encoding="utf-8")
    return [line for line in text.split("\n") if line and not line.startswith("#")]


def sources():
    """The files of sources.txt, and what is made for the page."""
    taken, left_out = [], set()
    for line in lines("sources.txt"):
        found = sorted((ROOT / "src").glob(line.lstrip("-")))
        if not found:
            sys.exit(f"sources.txt: nothing matches {line}")
        if line.startswith("-"):
            left_out.update(found)
        else:
            taken += found
    return [path for path in taken if path not in left_out] + [HERE / "alone.c"]


def version():
    """The version of the program."""
    return re.search(r"^  version: '([^']+)'", (ROOT / "meson.build").read_text(encoding="utf-8"), re.MULTILINE)[1]


class Tools:
    """The compiler, the linker and the C library; `missing` names what is not there."""

    def __init__(self, sysroot):
        self.clang = shutil.which("clang") or shutil.which("clang-14")
        self.cache = [path] if (path := shutil.which("ccache")) else []
        self.linker = shutil.which("wasm-ld") or shutil.which("wasm-ld-14")
        self.headers, self.libraries = sysroot / "include/wasm32-wasi", sysroot / "lib/wasm32-wasi"
        self.missing = [name for name, found in (("clang", self.clang), ("wasm-ld", self.linker),
                                                 ("wasi-libc", (self.libraries / "libc.a").exists())) if not found]
        self.builtins = None
        if not self.missing:
            printed = subprocess.run([self.clang, "-print-resource-dir"], capture_output=True, text=True, check=True)
            self.builtins = pathlib.Path(printed.stdout.strip()) / "lib/wasi/libclang_rt.builtins-wasm32.a"
            if not self.builtins.exists():
                self.missing.append("libclang-rt-dev-wasm32")

    def flags(self):
        """The options of every file; headers of the page come before those of the program."""
        return [*FLAGS, f'-DDTI_VERSION="{version()}"', "-isystem", str(self.headers), f"-I{HERE / 'include'}",
                f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}"]


def is_fresh(made, depends, command):
    """Whether an object is newer than all that it was made of, by the same command."""
    stamp = made.with_suffix(".cmd")
    if not made.exists() or not depends.exists() or not stamp.exists() or stamp.read_text() != command:
        return False
    names = depends.read_text(encoding="utf-8").replace("\\\n", " ").split(":", 1)[1].split()
    when = made.stat().st_mtime
    return all(os.path.exists(name) and os.path.getmtime(name) <= when for name in names)


def compile_one(tools, source, folder):
    """Compiles a file if anything changed; returns the object, or None."""
    made = folder / (str(source.relative_to(ROOT)).replace("/", "_")[:-2] + ".o")
    depends = made.with_suffix(".d")
    words = [*tools.cache, tools.clang, *tools.flags(), "-c", str(source)]
    command = "\n".join(words)
    if is_fresh(made, depends, command):
        return made
    if subprocess.run([*words, "-MD", "-MF", str(depends), "-o", str(made)], check=False).returncode != 0:
        return None
    made.with_suffix(".cmd").write_text(command)
    return made


def link(tools, objects, output, folder):
    """Links what the commands need of the objects."""
    absent = folder / "absent.txt"
    absent.write_text("\n".join(lines("absent.txt")) + "\n")
    words = [tools.linker, "-m", "wasm32", "--gc-sections", "--strip-all", "-O2", f"--allow-undefined-file={absent}",
             "-z", f"stack-size={STACK}", "--stack-first", "-o", str(output), str(tools.libraries / "crt1-command.o"),
             *map(str, objects),
             *[str(tools.libraries / name) for name in EMULATED], str(tools.builtins)]
    return subprocess.run(words, check=False).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--objects", type=pathlib.Path, help="folder of the objects, kept for the next time")
    parser.add_argument("--sysroot", type=pathlib.Path, default=pathlib.Path("/usr"))
    args = parser.parse_args()
    tools = Tools(args.sysroot)
    if tools.missing:
        print(f"no page that computes: {', '.join(tools.missing)} missing")
        sys.exit(SKIPPED)
    folder = args.objects or args.output.parent / "wasm-objects"
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(lambda source: compile_one(tools, source, folder), sources()))
    if None in objects or not link(tools, objects, args.output, folder):
        sys.exit(1)
    size = args.output.stat().st_size
    if size > LIMIT:
        sys.exit(f"{args.output.name} takes {size} bytes; at most {LIMIT}")


if __name__ == "__main__":
    main()
