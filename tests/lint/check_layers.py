#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Who may include whom, and what no file may call. A layer sees those below it and nothing else."""
import re
import sys

import tree

# layer: the layers below it that it may include
LAYERS = {
    "util": set(),
    "core": {"util"},
    "kernels": {"core", "util"},
    "devices": {"kernels", "core", "util"},
    "convert": {"devices", "kernels", "core", "util"},
    "containers": {"core", "util"},
    "files": {"containers", "convert", "devices", "kernels", "core", "util"},
    "bench": {"convert", "devices", "kernels", "core", "util"},
    "calc": {"convert", "devices", "kernels", "core", "util"},
    "report": {"util"},
    "answers": {"bench", "calc", "files", "containers", "convert", "devices", "kernels", "report", "core", "util"},
    "cli": {"answers", "bench", "calc", "files", "containers", "convert", "devices", "kernels", "report", "core", "util"},
}
# Folders of a layer, and the others of its folders that they may include. A command's folder is not named
# here: it sees "shell", "shared" and itself.
ROOMS = {
    "files": {
        "stored": set(), "config": {"stored"}, "dequant": {"stored", "config"}, "scan": {"dequant"},
        "rewrite": {"stored", "config", "dequant"}, "transcode": {"stored", "config", "dequant"},
        "layouts": {"stored", "config", "dequant", "transcode"}, "judge": {"dequant", "rewrite"}, "lint": {"stored", "config", "dequant"},
    },
    "cli": {"shell": set(), "shared": {"shell"}},
    "bench": {"measure": set(), "engines": {"measure"}, "workloads": {"measure", "engines"}},
}
COMMAND_ROOM = {"cli": {"shell", "shared"}}
# Crossings that are still to go.
CROSSINGS = {}
# Public headers whose layer does not follow from a source file of the same name.
HEADERS = {
    "transcode_layouts.def": "files",
    "status.def": "util",
    "loss_summary.h": "files",
    "ascii.h": "util",
    "utf8.h": "util",
    "remedy.h": "util",
    "remedies.def": "util",
    "value.h": "core",
    "dtypes.def": "core",
    "blocks.def": "core",
    "gguf_types.def": "core",
    "gguf_type.h": "core", "onnx_weight.h": "core",
    "gguf_kernel.h": "kernels",
    "trainings.def": "core",
    "calc_operations.def": "calc",
    "calc.h": "calc",
    "arith.h": "core",
    "arith_kernel.h": "kernels",
    "policies.def": "core",
    "stacks.def": "core",
    "streamings.def": "kernels",
    "conversions.def": "cli",
    "dtype_names.def": "core",
    "checked.h": "util",
    "little_endian.h": "util",
    "quant.h": "core",
    "quant_kernel.h": "kernels",
    "levels.def": "kernels",
    "kernel.h": "kernels",
    "convert.h": "convert",
    "escape.h": "util",
    "containers.def": "containers",
    "lint.h": "files",
    "unread.h": "util",
    "lint_rules.def": "files",
    "lint_effects.def": "files",
    "quant_layouts.def": "files",
    "container.h": "containers",
    "json_read.h": "util",
    "json_edit.h": "util",
    "block_queue.h": "convert",
    "batch.h": "convert",
    "scan.h": "files",
    "comparison.h": "kernels",
    "stats.h": "kernels",
    "dot.h": "kernels",
    "expsin.h": "kernels",
    "matmul.h": "kernels",
    "library.h": "util",
    "device.h": "devices",
    "machine.h": "devices",
    "instructions.def": "devices",
    "capability.h": "devices",
    "architecture.h": "devices",
    "architectures.def": "devices",
    "gpu.h": "devices",
    "gpu_kernels.h": "devices",
    "gpu_kernels.def": "devices",
    "runner.h": "convert",
    "bench_table.h": "bench",
    "benches.def": "bench",
}
# A header outside the program: the only files that may include it.
RESERVED = {
    r"cjson/cJSON\.h|cJSON\.h": {"src/report/json_tree.c"},
    r"zlib\.h": {"src/containers/inflate.c", "src/containers/crc32.c", "src/devices/gpu_program.c"},
    r"nettle/\w+\.h": {"src/files/scan/file_digest.c"},
    r"libdeflate\.h": {"src/containers/crc32.c"},
    r"dlfcn\.h": {"src/util/library.c"},
    r"(imm|x86|emm|avx\w*|arm_neon|arm_sve)\w*\.h": {"src/kernels/x86/", "src/kernels/arm/"},
    r"locale\.h|xlocale\.h": set(),
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
JSON_WRITERS = ("src/report/", "src/answers/rows.h", "src/containers/json_quoted.c", "src/containers/safetensors_write.c",
                "src/containers/sharded_write.c", "src/containers/gguf_metadata.c", "src/files/stored/quant_layout.c", "src/files/config/quant_config_forms.c", "src/files/layouts/", "src/files/transcode/transcode_fp8.c", "src/files/transcode/transcode_gpt_oss.c",
                "src/util/json_edit.c")
EXITS = r"exit|_exit|_Exit|quick_exit|abort"
# Only the command line has options: the layers below it give the id of a remedy (remedies.def).
OPTION = re.compile(r"(?<![\w-])-(-[a-z]|[a-zA-Z](?![\w-]))")
FLOAT_CONVERSION = re.compile(r"%[-+#0]*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?[lL]?[aAeEfFgG](?![A-Za-z])")
FLOAT_TYPE = re.compile(r"\b(float|double)\b")


def layer_of_source(name):
    parts = name.split("/")
    return parts[1] if parts[0] == "src" and len(parts) > 2 else None


def layer_of_header(header, stems):
    base = header.rsplit("/", 1)[-1]
    return HEADERS.get(base) or stems.get(base.rsplit(".", 1)[0])


def included_layer(header, stems):
    if header.startswith("dtinfo/"):
        return layer_of_header(header, stems) or "?"
    first = header.split("/")[0]
    return first if first in LAYERS else None


def check_includes(name, layer, text, stems):
    for match in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', text, re.MULTILINE):
        quote, header = match.groups()
        where = "%s:%d" % (name, text.count("\n", 0, match.start()) + 1)
        target = included_layer(header, stems)
        if target == "?":
            yield "%s: %s belongs to no layer; give it a row in HEADERS" % (where, header)
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
    if layer not in ROOMS or len(parts) < 4:
        return
    room = parts[2]
    allowed = {room} | ROOMS[layer].get(room, COMMAND_ROOM.get(layer, set()))
    for path, known in CROSSINGS.items():
        if name.startswith(path):
            allowed |= known
    for match in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*"%s/(\w+)/' % layer, text, re.MULTILINE):
        if match.group(1) not in allowed:
            where = "%s:%d" % (name, text.count("\n", 0, match.start()) + 1)
            yield "%s: the room %s may not include the room %s" % (where, room, match.group(1))


def check_calls(name, layer, text):
    for number, line in enumerate(text.splitlines(), 1):
        where = "%s:%d" % (name, number)
        code = tree.without_strings(line)
        for pattern, why in FORBIDDEN_CALLS.items():
            call = re.search(r"\b(%s)\s*\(" % pattern, code)
            if call:
                yield "%s: %s() %s" % (where, call.group(1), why)
        if re.search(r"\b(%s)\s*\(" % EXITS, code) and name != "src/cli/shell/main.c":
            yield "%s: only main.c may end the process" % where
        if layer == "core" and re.search(r"\b(%s)\s*\(" % CORE_CALLS, code):
            yield "%s: the core does no input or output" % where
        if layer == "core" and FLOAT_TYPE.search(code):
            yield "%s: the core has no floating point" % where
        for string in re.findall(r'"((?:\\.|[^"\\])*)"', line):
            if FLOAT_CONVERSION.search(string.replace("%%", "")):
                yield "%s: libc must not print floating point" % where
            if JSON_PIECE.search(string) and not name.startswith(JSON_WRITERS):
                yield "%s: JSON is written with dti_json_...() alone" % where
            if OPTION.search(string) and layer != "cli":
                yield "%s: names an option; give the id of a remedy" % where


def main():
    problems = []
    sources = [path for path in tree.files(".c", ".h", ".def") if layer_of_source(tree.name_of(path))]
    stems = {}
    for path in sources:
        if path.suffix == ".c":
            stems.setdefault(path.stem, layer_of_source(tree.name_of(path)))
    todo = [(path, layer_of_source(tree.name_of(path))) for path in sources]
    for path in tree.files(".h", ".def"):
        name = tree.name_of(path)
        if not name.startswith("include/dtinfo/"):
            continue
        layer = layer_of_header(name, stems)
        if layer:
            todo.append((path, layer))
        else:
            problems.append("%s belongs to no layer; give it a row in HEADERS" % name)
    for path, layer in todo:
        name = tree.name_of(path)
        if layer not in LAYERS:
            problems.append("%s: no layer is called %s" % (name, layer))
            continue
        text = tree.without_comments(path.read_text(encoding="utf-8"))
        problems += check_includes(name, layer, text, stems)
        problems += check_rooms(name, layer, text)
        problems += check_calls(name, layer, text)
    return tree.report(problems, "layers, %d files" % len(todo))


if __name__ == "__main__":
    sys.exit(main())
