#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Who may include whom, and what no file may call. A layer sees those below it and nothing else."""
import re
import sys

import tree

# layer: the layers below it that it may include
LAYERS = {
    "util": set(),
    "io": {"util"},
    "core": {"util"},
    "kernels": {"core", "util"},
    "devices": {"kernels", "core", "util"},
    "convert": {"devices", "kernels", "core", "io", "util"},
    "containers": {"core", "io", "util"},
    "files": {"containers", "convert", "devices", "kernels", "core", "io", "util"},
    "bench": {"convert", "devices", "kernels", "core", "util"},
    "calc": {"convert", "devices", "kernels", "core", "util"},
    "report": {"util"},
    "answers": {"bench", "calc", "files", "containers", "convert", "devices", "kernels", "report", "core", "io", "util"},
    "requests": {"answers", "files", "containers", "convert", "devices", "kernels", "report", "core", "io", "util"},
    "library": {"requests", "answers", "calc", "files", "containers", "convert", "devices", "kernels", "report", "core", "io", "util"},
    "cli": {"requests", "answers", "bench", "calc", "files", "containers", "convert", "devices", "kernels", "report", "core", "io", "util"},
}
# The folders of a layer, and the others of its folders that each may include. All of them see what lies in the
# layer's own folder, which sees those of the row "". A command's folder is not named here: it sees those of
# COMMAND_ROOM and itself.
ROOMS = {
    "util": {"": {"run"}, "text": {"run"}, "json": {"run", "text"}, "run": set()},
    "io": {"": {"net", "sandbox"}, "net": set(), "sandbox": set()},
    "core": {"": {"dtype"}, "dtype": set(), "number": {"dtype"}, "code": {"dtype", "number"}, "block": {"code", "dtype"}},
    "kernels": {
        "": {"cast", "scan", "math", "arith", "x86", "arm"},
        "cast": set(), "scan": set(), "quant": {"cast"}, "gguf": set(), "math": set(), "arith": set(),
        "x86": {"cast", "scan", "quant", "gguf", "math"}, "arm": {"cast", "scan", "quant", "gguf", "math"},
    },
    "devices": {"machine": set(), "gpu": set(), "cuda": {"gpu"}},
    "containers": {
        "": {"zip"},
        "zip": set(), "npy": {"zip"}, "pickle": set(), "torch": {"npy", "pickle", "zip"},
        "safetensors": set(), "gguf": set(), "onnx": set(), "dduf": {"npy", "safetensors", "zip"},
        "sharded": {"gguf", "safetensors", "torch"}, "pickle_scan": {"pickle", "sharded", "torch", "zip"},
    },
    "files": {
        "stored": set(), "config": {"stored"}, "dequant": {"stored", "config"}, "scan": {"dequant"},
        "transcode": {"stored", "config", "dequant"}, "model": {"stored"},
        "rewrite": {"stored", "config", "dequant", "scan", "transcode", "model"},
        "layouts": {"stored", "config", "dequant", "transcode"}, "judge": {"dequant", "rewrite"},
        "advise": {"stored"}, "lint": {"stored", "config", "dequant", "scan"}, "loaders": {"stored", "config", "dequant"},
    },
    "bench": {"measure": set(), "engines": {"measure"}, "workloads": {"measure", "engines"}},
    "calc": {"parse": set(), "truth": set(), "evaluate": {"parse", "truth"}},
    "answers": {"rewrite": set(), "bench": {"calc"}, "verify": {"explain", "rewrite"}},
    "requests": {"rewrite": set(), "explain": {"cast", "quant", "rewrite"}, "advise": {"quant", "rewrite"}},
    "cli": {"shell": set(), "shared": {"shell"}, "rewrite": {"shared", "shell"}},
}
COMMAND_ROOM = {"answers": {"rewrite"}, "requests": {"rewrite"}, "cli": {"shell", "shared", "rewrite"}}
# The layers that implement the public headers; all of them see base.h and dtype.h.
PUBLIC = {"base.h": "util", "dtype.h": "core", "array.h": "library", "block.h": "library", "file.h": "library"}
# A header outside the program: the only files that may include it.
RESERVED = {
    r"zlib\.h": {"src/containers/zip/inflate.c", "src/containers/zip/crc32.c", "src/devices/gpu/gpu_program.c"},
    r"nettle/\w+\.h": {"src/files/scan/file_digest.c"},
    r"libdeflate\.h": {"src/containers/zip/crc32.c"},
    r"dlfcn\.h": {"src/util/run/library.c"},
    r"(imm|x86|emm|avx\w*|arm_neon|arm_sve)\w*\.h": {"src/kernels/x86/", "src/kernels/arm/"},
    r"locale\.h|xlocale\.h": {"src/util/errno_text.c"},
}
# The core computes: no input, no output, no floating point, no clock. snprintf() is all of stdio.
NOT_IN_CORE = r"locale\.h|float\.h|math\.h|fenv\.h|unistd\.h|time\.h|fcntl\.h|wchar\.h"
CORE_CALLS = r"v?f?printf|f?puts|f?putc|putchar|fopen|fwrite|fread|fgets|fflush|getenv|perror|rand"
FORBIDDEN_CALLS = {
    r"strto(d|f|ld)|ato(f|i|l|ll)|setlocale|uselocale|newlocale": "depends on the locale or rounds",
    r"sprintf|vsprintf|strtok|gets|alloca": "writes without a bound",
}
# JSON has one writer, which escapes every text. The headers of containers are JSON, too: their writers pass
# every name through dti_json_quoted(). Texts in GGUF's metadata arrays are shown in quotes.
JSON_PIECE = re.compile(r'\\"\s*[:,\]}]|[{\[,:]\s*\\"|^\\"$')
JSON_WRITERS = ("src/report/", "src/answers/rows.h", "src/containers/json_quoted.c", "src/containers/safetensors/",
                "src/containers/sharded/sharded_write.c", "src/containers/gguf/gguf_metadata.c", "src/files/stored/quant_layout.c", "src/files/stored/quant_marks.c", "src/files/config/quant_config_forms.c", "src/files/layouts/", "src/files/transcode/transcode_fp8.c", "src/files/transcode/transcode_gpt_oss.c", "src/files/transcode/transcode_mlx.c",
                "src/util/json/json_edit.c")
# Memory passes through one hook; what the C library itself returns is freed by free().
ALLOCATES = r"malloc|calloc|realloc|strdup|strndup|aligned_alloc|posix_memalign|free"
FREES_OF_LIBC = ("src/cli/bench/bench_page.c", "src/cli/shell/page.c", "src/io/input_inside.c")
EXITS = r"exit|_exit|_Exit|quick_exit|abort"
# Only requests are made of options: the layers below them give the id of a remedy (remedies.def).
WITH_OPTIONS = ("cli", "requests")
OPTION = re.compile(r"(?<![\w-])-(-[a-z]|[a-zA-Z](?![\w-]))")
COMMAND = re.compile(r"'dtinfo\b")
FLOAT_CONVERSION = re.compile(r"%[-+#0]*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?[lL]?[aAeEfFgG](?![A-Za-z])")
FLOAT_TYPE = re.compile(r"\b(float|double)\b")


def layer_of(name):
    parts = name.split("/")
    if parts[0] == "include":
        return PUBLIC.get(parts[-1], "library")
    return parts[1] if parts[0] == "src" and len(parts) > 2 else None


def included_layer(header):
    if header == "dtinfo.h":
        return "library"
    if header.startswith("dtinfo/"):
        return PUBLIC.get(header.rsplit("/", 1)[-1], "?")
    first = header.split("/")[0]
    return first if first in LAYERS else None


def check_includes(name, layer, text):
    for match in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', text, re.MULTILINE):
        quote, header = match.groups()
        where = "%s:%d" % (name, text.count("\n", 0, match.start()) + 1)
        target = included_layer(header)
        if target == "?":
            yield "%s: %s belongs to no layer; give it a row in PUBLIC" % (where, header)
        elif target and target != layer and target not in LAYERS[layer]:
            yield "%s: %s may not include %s, which is %s" % (where, layer, header, target)
        elif quote == '"' and not target and "/" in header:
            yield "%s: %s is in no layer" % (where, header)
        if layer == "core" and re.fullmatch(NOT_IN_CORE, header):
            yield "%s: the core may not include <%s>" % (where, header)
        for pattern, allowed in RESERVED.items():
            if re.fullmatch(pattern, header) and not any(name.startswith(a) for a in allowed):
                owners = "only " + " and ".join(sorted(allowed)) if allowed else "no file"
                yield "%s: %s may include <%s>" % (where, owners, header)


def check_rooms(name, layer, text):
    """A folder of a layer sees only the folders that its row names."""
    parts = name.split("/")
    if layer not in ROOMS or parts[0] != "src":
        return
    room = parts[2] if len(parts) > 3 else ""
    allowed = {room} | ROOMS[layer].get(room, COMMAND_ROOM.get(layer, set()) if room else set())
    for match in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*"%s/(\w+)/' % layer, text, re.MULTILINE):
        if match.group(1) not in allowed:
            where = "%s:%d" % (name, text.count("\n", 0, match.start()) + 1)
            yield "%s: the room %s may not include the room %s" % (where, room or layer, match.group(1))


def check_table(todo):
    """src/README.md: each folder, and the headers of it that others include."""
    row = re.compile(r"^\| `([\w/]+)` \| .+ \| (.*) \|$", re.MULTILINE)
    text = (tree.ROOT / "src/README.md").read_text(encoding="utf-8")
    rows = {folder: set(headers.replace("`", "").split()) for folder, headers in row.findall(text)}
    folders = {name[4:].rpartition("/")[0] for _, name in todo if name.startswith("src/")}
    found = {folder: set() for folder in rows}
    for path, name in todo:
        for header in re.findall(r'^[ \t]*#[ \t]*include[ \t]*"(\w[\w/]*/\w+\.\w+)"', path.read_text(encoding="utf-8"), re.MULTILINE):
            folder, _, base = header.rpartition("/")
            if name.startswith("src/") and folder != name[4:].rpartition("/")[0]:
                found.setdefault(folder, set()).add(base)
    del found["dtinfo"]
    for folder in sorted(folders - set(rows)):
        yield "src/README.md has no row of the folder %s" % folder
    for folder in sorted(rows):
        if not (tree.ROOT / "src" / folder).is_dir():
            yield "src/README.md: there is no folder %s" % folder
        for header in sorted(rows[folder] ^ found[folder]):
            yield "src/README.md: %s/%s is %s" % (folder, header, "included by no other folder" if header in rows[folder]
                                                 else "included by other folders, and its row does not name it")


def check_calls(name, layer, text):
    for number, line in enumerate(text.splitlines(), 1):
        where = "%s:%d" % (name, number)
        code = tree.without_strings(line)
        for pattern, why in FORBIDDEN_CALLS.items():
            call = re.search(r"\b(%s)\s*\(" % pattern, code)
            if call and name != "src/util/errno_text.c":
                yield "%s: %s() %s" % (where, call.group(1), why)
        if re.search(r"\b(%s)\s*\(" % EXITS, code) and name != "src/cli/shell/main.c":
            yield "%s: only main.c may end the process" % where
        call = re.search(r"(?<![\w.>*])(%s)\(" % ALLOCATES, code)
        if call and not name.startswith(("src/util/run/allocate.c", "src/devices/cuda/")) and not (
                call.group(1) == "free" and name in FREES_OF_LIBC):
            yield "%s: %s(): memory comes from util/run/allocate.h" % (where, call.group(1))
        if layer == "core" and re.search(r"\b(%s)\s*\(" % CORE_CALLS, code):
            yield "%s: the core does no input or output" % where
        if layer == "core" and FLOAT_TYPE.search(code):
            yield "%s: the core has no floating point" % where
        for string in re.findall(r'"((?:\\.|[^"\\])*)"', line):
            if FLOAT_CONVERSION.search(string.replace("%%", "")):
                yield "%s: libc must not print floating point" % where
            if JSON_PIECE.search(string) and not name.startswith(JSON_WRITERS):
                yield "%s: JSON is written with dti_json_...() alone" % where
            if OPTION.search(string) and layer not in WITH_OPTIONS:
                yield "%s: names an option; give the id of a remedy" % where
            if COMMAND.search(string) and layer not in WITH_OPTIONS:
                yield "%s: names a command; give the id of a remedy" % where
        if layer != "cli" and re.search(r"(?<!\w)getenv\(", code) and not name.endswith("/process_environment.c"):
            yield "%s: a layer below cli reads dti_environment() alone" % where


def main():
    problems = []
    todo = [(path, tree.name_of(path)) for path in tree.files(".c", ".h", ".def")]
    todo = [(path, name) for path, name in todo if name.startswith(("src/", "include/"))]
    for path, name in todo:
        layer = layer_of(name)
        if layer not in LAYERS:
            problems.append("%s belongs to no layer" % name)
            continue
        text = tree.without_comments(path.read_text(encoding="utf-8"))
        problems += check_includes(name, layer, text)
        problems += check_rooms(name, layer, text)
        problems += check_calls(name, layer, text)
    problems += check_table(todo)
    return tree.report(problems, "layers, %d files" % len(todo))


if __name__ == "__main__":
    sys.exit(main())
