#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A GGUF in several files is one model: parts written by gguf-py, read by all commands; and parts written by dtinfo,
read by gguf-py and checked against the rules of llama-gguf-split and llama.cpp, reimplemented here.

usage: test_gguf_split.py DTINFO
"""
import json
import os
import struct
import sys

import harness
from harness import bytes_of
from split_parts import U32, fresh, part_name

gguf, numpy = harness.have("gguf"), harness.have("numpy")
if gguf is None or numpy is None:
    print("skipped: needs gguf and numpy")
    sys.exit(77)

DTINFO = harness.Program(sys.argv[1])
require, run = DTINFO.require, DTINFO.run
RANDOM = numpy.random.default_rng(29)
TENSORS = {"blk.%d.weight" % i: RANDOM.standard_normal((3 + i, 64)).astype("<f4") for i in range(7)}


# ---- written by gguf-py

def write_by_gguf_py(path, tensors=None, **how):
    writer = gguf.GGUFWriter(path, "llama", **how)
    writer.add_uint32("llama.block_count", 7)
    writer.add_file_type(0)
    writer.add_array("tokenizer.ggml.tokens", ["token %d" % i for i in range(300)])
    for name, array in (tensors or TENSORS).items():
        writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def arrays_of(paths):
    """name -> bytes over all parts, read by gguf-py."""
    found = {}
    for path in paths:
        for tensor in gguf.GGUFReader(path).tensors:
            require(tensor.name not in found, path, tensor.name, "twice")
            found[tensor.name] = tensor.data.tobytes()
    return found


def fields_of(path):
    """The key-values, without the split keys."""
    return {name: (field.types, [bytes(part) for part in field.parts])
            for name, field in gguf.GGUFReader(path).fields.items()
            if not name.startswith(("GGUF.", "split."))}


def judge_reading():
    write_by_gguf_py("whole.gguf")
    want = json.loads(run("inspect", "whole.gguf", "--json", "--stats")[0])["files"][0]
    run("cast", "whole.gguf", "fp32", "-o", "copy.gguf", "-q")
    run("quant", "whole.gguf", "q4_k", "--type", "*=q8_0", "-o", "blocks.gguf", "-q")
    for how in ({"split_max_tensors": 2}, {"split_max_tensors": 3, "small_first_shard": True}, {"split_max_size": 5000},
                {"split_max_tensors": 1}):
        folder = fresh("read")
        write_by_gguf_py(folder + "/m.gguf", **how)
        parts = sorted(os.listdir(folder))
        require(len(parts) > 1 and parts[0] == part_name("m", 0, len(parts)), parts)
        for operand in [folder, folder + "/"] + ["%s/%s" % (folder, part) for part in parts]:
            got = json.loads(run("inspect", operand, "--json", "--stats")[0])["files"][0]
            require((got["kind"], len(got["shards"])) == ("split gguf", len(parts)), got["kind"])
            require([(t["name"], t["shape"], t["stats"]) for t in got["tensors"]] ==
                    [(t["name"], t["shape"], t["stats"]) for t in want["tensors"]], operand)
            shards = [parts.index(os.path.basename(shard["path"])) for shard in got["shards"]]
            require(shards == list(range(len(parts))), shards)
            require("ok  valid  split gguf, %d files, 7 tensors" % len(parts) in run("check", operand)[0], operand)
            require(not got["notes"] if "notes" in got else True, got.get("notes"))
            run("compare", "whole.gguf", operand, "--bitwise")
            run("compare", operand, "whole.gguf")
            require("7 tensors" in run("mem", operand)[0], operand)
            run("cast", operand, "fp32", "-o", "merged.gguf", "--force", "-q")
            require(bytes_of("merged.gguf") == bytes_of("copy.gguf"), operand, "merged into another file")
            run("quant", operand, "q4_k", "--type", "*=q8_0", "-o", "merged.gguf", "--force", "-q")
            require(bytes_of("merged.gguf") == bytes_of("blocks.gguf"), operand, "quantized to another file")
            run("explain", operand, "copy.gguf")
            run("cast", operand, "fp16", "-o", "half.safetensors", "--force", "-q")
            run("cast", operand, "fp16", "-o", fresh("shards") + "/", "--force", "-q")
            run("compare", "half.safetensors", "shards", "--bitwise")
            require(len([n for n in os.listdir("shards") if n.endswith(".safetensors")]) ==
                    len([s for s in got["shards"] if s["tensors"]]), os.listdir("shards"))
            sums = [run("calc", "sum(@%s:blk.6.weight)" % path, "fp64", "-q")[0] for path in (operand, "whole.gguf")]
            require(sums[0] == sums[1], sums)
    # block formats, read through any part
    run("quant", "whole.gguf", "q8_0", "-o", "read/q.gguf", "--max-shard-size", "3KiB", "-q")
    part = next(name for name in os.listdir("read") if name.startswith("q-00002"))
    run("quant", "--dequant", "read/" + part, "fp32", "-o", "from_parts.safetensors", "-q")
    run("quant", "--dequant", "blocks.gguf", "fp32", "-o", "from_whole.safetensors", "-q")
    run("compare", "from_parts.safetensors", "from_whole.safetensors", "--bitwise")
    # metadata and order from a split template
    run("cast", "half.safetensors", "fp32", "--template", "read/" + part_name("m", 3, 7), "-o", "by_template.gguf", "-q")
    require(fields_of("by_template.gguf") == fields_of("copy.gguf"), "other key-values by a split template")


# ---- written by dtinfo

def judge_by_rules(folder, prefix, count):
    """The rules of llama-gguf-split --merge and llama.cpp's loader: split.count in the first file, names derived from
    it, split.no of each in order, all keys with their types, split.tensors.count tensors in total, no duplicates."""
    first = gguf.GGUFReader("%s/%s" % (folder, part_name(prefix, 0, count)))
    require("general.architecture" in first.fields, "part 1 has no architecture")
    kinds = {"split.no": gguf.GGUFValueType.UINT16, "split.count": gguf.GGUFValueType.UINT16,
             "split.tensors.count": gguf.GGUFValueType.INT32}
    loaded = []
    for no in range(count):
        reader = gguf.GGUFReader("%s/%s" % (folder, part_name(prefix, no, count)))
        for key, kind in kinds.items():
            require(reader.fields[key].types == [kind], key, reader.fields[key].types)
        said = {key: int(reader.fields[key].parts[-1][0]) for key in kinds}
        require(said["split.no"] == no and said["split.count"] == count, said)
        require(int(reader.fields["GGUF.version"].parts[-1][0]) == 3, "version")
        others = [key for key in reader.fields if not key.startswith(("GGUF.", "split."))]
        require(no == 0 or others in ([], ["general.alignment"]), others)
        alignment = reader.alignment
        require(all(int(tensor.data_offset) % alignment == 0 for tensor in reader.tensors), "alignment")
        require(os.path.getsize("%s/%s" % (folder, part_name(prefix, no, count))) % alignment == 0, "padding")
        loaded += [tensor.name for tensor in reader.tensors]
    require(len(loaded) == said["split.tensors.count"] == len(set(loaded)), len(loaded), said)
    return loaded


def size_of(text):
    return int(text[:-3]) << 10 if text.endswith("KiB") else int(text)


def judge_writing():
    write_by_gguf_py("in.gguf")
    data = bytes_of("in.gguf")
    added = struct.pack("<Q", 17) + b"general.alignment" + struct.pack("<II", U32, 128)
    head = data[:16] + struct.pack("<Q", struct.unpack("<Q", data[16:24])[0] + 1) + added
    key_values = data[24:min(int(tensor.field.offset) for tensor in gguf.GGUFReader("in.gguf").tensors)]
    infos, blob, at = b"", b"", 0
    for name, array in TENSORS.items():
        infos += struct.pack("<Q", len(name)) + name.encode() + struct.pack("<IQQIQ", 2, *array.shape[::-1], 0, at)
        raw = array.tobytes()
        blob += raw + bytes(-len(raw) % 128)
        at = len(blob)
    whole = head + key_values + infos
    with open("aligned.gguf", "wb") as file:
        file.write(whole + bytes(-len(whole) % 128) + blob)
    for source in ("in.gguf", "aligned.gguf"):
        for words, kind in ((["cast", source, "fp32"], "fp32"), (["cast", source, "bf16"], "bf16"),
                            (["quant", source, "q8_0"], "q8_0"), (["quant", source, "q4_0"], "q4_0")):
            again = ["cast"] if words[0] == "cast" else ["quant"]
            run(*words, "-o", "one.gguf", "--force", "-q")
            single = arrays_of(["one.gguf"])
            for size in ("1", "400", "1200", "2KiB", "3KiB", "5KiB", "7000", "12KiB", "1024KiB"):
                folder = fresh("written")
                document = json.loads(run(*words, "-o", folder + "/m.gguf", "--max-shard-size", size, "--json")[0])
                names = sorted(os.listdir(folder))
                require([os.path.basename(f["path"]) for f in document["output"]["files"]] == names, document["output"])
                if os.path.getsize("one.gguf") <= size_of(size):
                    require(names == ["m.gguf"] and bytes_of("written/m.gguf") == bytes_of("one.gguf"), names)
                    continue
                require(names == [part_name("m", no, len(names)) for no in range(len(names))], names)
                loaded = judge_by_rules(folder, "m", len(names))
                paths = ["%s/%s" % (folder, name) for name in names]
                require(loaded == list(TENSORS), loaded)
                require(arrays_of(paths) == single, words, size)
                require(fields_of(paths[0]) == fields_of("one.gguf"), "other key-values")
                large = [path for path in paths if os.path.getsize(path) > size_of(size)]
                for path in large:
                    require(len(gguf.GGUFReader(path).tensors) <= 1, path, "is too large, and has several tensors")
                require(bool(large) == any(w["code"] == "large_shards" for w in document["warnings"]), document["warnings"])
                run("compare", "one.gguf", folder, "--bitwise")
                # merged, and split again
                run(*again, folder, kind, "-o", "merged.gguf", "--force", "-q")
                run(*again, "one.gguf", kind, "-o", "again.gguf", "--force", "-q")
                require(bytes_of("merged.gguf") == bytes_of("again.gguf"), "merged")
                run(*again, paths[-1], kind, "-o", folder + "/other.gguf", "--max-shard-size", "4KiB", "-q")
                others = [name for name in os.listdir(folder) if name.startswith("other")]
                if others != ["other.gguf"]:
                    judge_by_rules(folder, "other", len(others))


def judge_all_or_none():
    """A part that already exists leaves everything unchanged."""
    folder = fresh("none")
    write_by_gguf_py("in.gguf")
    run("cast", "in.gguf", "bf16", "-o", folder + "/m.gguf", "--max-shard-size", "3KiB", "-q")
    names = sorted(os.listdir(folder))
    for name in names:
        for other in names:
            if other != name:
                os.remove("%s/%s" % (folder, other))
        before = bytes_of("%s/%s" % (folder, name))
        _, said = run("cast", "in.gguf", "fp16", "-o", folder + "/m.gguf", "--max-shard-size", "3KiB", status=4)
        require(name in said and sorted(os.listdir(folder)) == [name], said, os.listdir(folder))
        require(bytes_of("%s/%s" % (folder, name)) == before, name)
        run("cast", "in.gguf", "bf16", "-o", folder + "/m.gguf", "--max-shard-size", "3KiB", "-q", "--force")
        require(sorted(os.listdir(folder)) == names, os.listdir(folder))
    for words, problem in (
            (["-o", "m-00001-of-00002.gguf"], "is the name of one part"),
            (["-o", "m.safetensors", "--max-shard-size", "3KiB"], "--max-shard-size is for gguf files"),
            (["-o", "m.gguf", "--max-shard-size", "3KB"], "--max-shard-size takes bytes"),
            (["-o", "m.gguf", "--max-shard-size", "0"], "--max-shard-size takes bytes")):
        _, said = run("cast", "in.gguf", "bf16", *words, status=2)
        require(problem in said, words, said)


def main():
    harness.in_new_folder(judge_reading, judge_writing, judge_all_or_none)
    print("%d checks" % DTINFO.checks)


main()
