#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Casts of checkpoints: the right tensors in the right files, in little memory, and an accurate report."""
import json
import os
import pathlib
import struct
import subprocess
import sys

from checkpoint_casts import (MIB, cast, cast_model, folder, in_order, make, model, open_safetensors, read,
                              report, require_done, safetensors, shards_of, write, write_others,
                              write_sharded, write_single, write_tensors)
from file_casts import LARGE, LARGE_CAST, SMALL, SMALL_CAST, require_failure
from make_checkpoint import HOSTILE, npy, npz, pack, write_hostile
from survival import (MEASURE, PROGRAM, QUICK, SANITIZED, SECONDS, check, cpu_seconds, environment, main,
                       require)

NAMES = {"bf16": "BF16", "fp16": "F16", "fp8_e4m3fn": "F8_E4M3", "fp8_e5m2": "F8_E5M2"}


@check
def a_checkpoint_becomes_what_exact_arithmetic_says():
    with folder():
        make("model", write_single)
        for dtype, name in NAMES.items():
            require_done(cast("model/model.safetensors", dtype, dtype + ".safetensors"))
            metadata, tensors = open_safetensors(read(dtype + ".safetensors"))
            require(metadata == {"format": "pt"}, "metadata", metadata)
            wanted = cast_model(name)
            require(sorted(tensors) == sorted(wanted), "wrong tensors", dtype)
            require(tensors == in_order(wanted), "another order", dtype)


@check
def shards_stay_shards_with_a_new_index():
    with folder():
        make("model")
        before, index = shards_of("model")
        for target, name in (("new/", "model.safetensors.index.json"),
                             ("plain", "model.safetensors.index.json"),
                             ("named/model.safetensors.index.json", "model.safetensors.index.json")):
            where = os.path.dirname(target) or target
            require_done(cast("model", "bf16", target))
            require(sorted(os.listdir(where)) == sorted(os.listdir("model")), "files",
                    os.listdir(where))
            after, _ = shards_of(where)
            require(list(after) == list(before), "shards", list(after))
            for shard, tensors in after.items():
                require(sorted(tensors) == sorted(cast_model("BF16", before[shard])),
                        "wrong tensors", shard)
                metadata, _ = open_safetensors(read(os.path.join(where, shard)))
                require(metadata == {"format": "pt"}, "metadata", metadata)
        require(index == shards_of("model")[1], "the input was touched")
        # of the folder itself, shard by shard
        require_done(cast("model", "bf16", "model", "--force"))
        for shard in before:
            require(read("model/" + shard) == read("new/" + shard), "in place", shard)


@check
def a_selection_leaves_shards_without_tensors_out():
    with folder():
        make("model")
        require_done(cast("model", "bf16", "new/", "--select", "*embed*"))
        found, index = shards_of("new")
        require(len(found) == 1 and len(index["weight_map"]) == 2, "index", index)
        require(len(os.listdir("new")) == 2, "files", os.listdir("new"))


@check
def shards_are_joined_into_the_file_that_one_would_give():
    with folder():
        make("model", write_sharded, write_single)
        os.rename("model/model.safetensors", "single.safetensors")
        for dtype in ("bf16", "fp32"):
            require_done(cast("model", dtype, "joined.safetensors", "--force"))
            require_done(cast("single.safetensors", dtype, "other.safetensors", "--force"))
            require(read("joined.safetensors") == read("other.safetensors"), "they differ", dtype)
        done = require_done(cast("model", "fp32", "-"))
        require(done.stdout == read("joined.safetensors"), "the pipe got something else")


@check
def threads_memory_and_pipes_change_nothing():
    with folder():
        parts = [("a", "F32", [2, 8 * MIB // 2], LARGE[:32 * MIB]),
                 ("small", "F32", [4999], SMALL[:-4]), ("kept", "I64", [625], SMALL[:5000]),
                 ("none", "F32", [0, 3], b""), ("b", "F32", [8 * MIB], LARGE[32 * MIB:])]
        write_tensors("in.safetensors", parts, {"a": "1", "z": "2", "m": "\u00e9\x01"})
        wanted = [("a", "BF16", [2, 8 * MIB // 2], LARGE_CAST[:16 * MIB]),
                  ("small", "BF16", [4999], SMALL_CAST[:-2]), ("kept", "I64", [625], SMALL[:5000]),
                  ("none", "BF16", [0, 3], b""), ("b", "BF16", [8 * MIB], LARGE_CAST[16 * MIB:])]
        require_done(cast("in.safetensors", "bf16", "first.safetensors"))
        got = read("first.safetensors")
        metadata, tensors = open_safetensors(got)
        require(tensors == in_order(wanted) and tensors != wanted, "wrong tensors")
        require(list(metadata.items()) == [("a", "1"), ("z", "2"), ("m", "\u00e9\x01")], "metadata")
        losses = None
        for threads, memory in (("1", "64KiB"), ("2", "1MiB"), ("7", "64MiB"), ("3", "16KiB")):
            found = report("in.safetensors", "fp8_e4m3fn", "loss.safetensors", "--force", "--threads",
                           threads, "--max-memory", memory)
            found = (found["totals"], found["tensors"], read("loss.safetensors"))
            require(losses is None or losses == found, "another loss", threads, memory)
            losses = found
            done = cast("in.safetensors", "bf16", "-", "--threads", threads, "--max-memory", memory)
            require(require_done(done).stdout == got, "other bytes", threads, memory)


@check
def other_kinds_give_and_take_the_same_numbers():
    with folder():
        make("other", write_others)
        wanted = {"weight": ("F32", [6, 4]), "half": ("F16", [6, 4]), "big": ("I32", [3]),
                  "columns": ("F32", [2, 3]), "scalar": ("F64", [])}
        for name in ("arrays.npz", "deflated.npz"):
            require_done(cast("other/" + name, "fp64", "out.safetensors", "--keep", "*", "--force"))
            _, tensors = open_safetensors(read("out.safetensors"))
            require({name: (dtype, shape) for name, dtype, shape, _ in tensors} == wanted, "tensors")
            data = {name: bytes_ for name, _, _, bytes_ in tensors}
            require(data["big"] == struct.pack("<3i", 1, -2, 3), "big-endian integers")
            require(data["columns"] == pack("F32", [1, 2, 3, 4, 5, 6]), "Fortran order",
                    data["columns"])
            require(data["scalar"] == pack("F64", [2.5]), "a scalar")
        require_done(cast("other/columns.npy", "fp64", "columns.npy"))
        require(read("columns.npy") == npy("<f8", (2, 3), pack("F64", [1, 4, 2, 5, 3, 6]),
                                           fortran=True), "npy in Fortran order")
        require_done(cast("other/columns.npy", "fp64", "columns.bin"))
        require(read("columns.bin") == pack("F64", [1, 2, 3, 4, 5, 6]), "raw")
        done = require_done(cast("other/columns.npy", "fp64", None, "--as", "text"))
        require(done.stdout == b"1\n2\n3\n4\n5\n6\n", "text", done.stdout)
        require_done(cast("columns.bin", "fp32", "raw.npy", "--from", "fp64", "--shape", "3x2"))
        require(read("raw.npy") == npy("<f4", (3, 2), pack("F32", [1, 2, 3, 4, 5, 6])), "raw in")
        require_failure(cast("columns.bin", "fp32", "x.npy", "--from", "fp64", "--shape", "2,2"), 3,
                        "columns.bin")
        require_done(cast("other/model.gguf", "fp32", "gguf.safetensors", "--select",
                          "token_embd.weight,*norm*"))
        metadata, tensors = open_safetensors(read("gguf.safetensors"))
        require([tensor[:3] for tensor in tensors] == [("token_embd.weight", "F32", [4, 32]),
                                                       ("blk.0.ffn_norm.weight", "F32", [32])],
                "gguf", tensors)
        require(metadata == {"general.architecture": "llama", "general.name": "tiny"}, "metadata",
                metadata)
        require_failure(cast("other/model.gguf", "fp32", "x.safetensors"), 3, "model.gguf",
                        "blk.0.attn_q.weight", "--select")


@check
def complex_numbers_and_byte_orders_are_kept():
    with folder():
        values = [1.5, -2.0, 3.25, 0.5]
        write("in.npz", npz({"z": npy(">c8", (2,), struct.pack(">4f", *values)),
                             "f": npy(">f8", (2,), struct.pack(">2d", 1.5, 1e300)),
                             "t": npy("|b1", (3,), b"\1\0\1")}))
        require_done(cast("in.npz", "fp32", "out.safetensors", "--ints"))
        _, tensors = open_safetensors(read("out.safetensors"))
        found = {name: (dtype, data) for name, dtype, _, data in tensors}
        require(found["z"] == ("C64", struct.pack("<4f", *values)), "complex", found["z"])
        require(found["f"] == ("F32", struct.pack("<2f", 1.5, float("inf"))), "doubles", found["f"])
        require(found["t"] == ("F32", struct.pack("<3f", 1, 0, 1)), "bool", found["t"])


@check
def what_keeps_its_dtype_keeps_every_bit():
    with folder():
        nans = bytes.fromhex("017f817f01ff8180ffff7f8000800100")
        write_tensors("in.safetensors", [("a", "BF16", [8], nans), ("b", "F32", [4], nans),
                                         ("c", "BOOL", [16], nans), ("d", "F64", [2], nans)])
        done = require_done(cast("in.safetensors", "bf16", "out.safetensors", "--keep", "b,d"))
        require(b"nothing is cast" not in done.stderr, "a warning", done.stderr)
        _, tensors = open_safetensors(read("out.safetensors"))
        require(all(data == nans for *_, data in tensors) and len(tensors) == 4, "bits changed")
        done = require_done(cast("in.safetensors", "bf16", "two.safetensors", "--only", "none",
                                 "--allow-unmatched"))
        require(b"'none' matches no tensor" in done.stderr and b"nothing is cast" in done.stderr,
                "warnings", done.stderr)


@check
def a_nan_without_a_code_is_refused_by_name():
    with folder():
        nan = pack("F32", [1.0, 2.0, float("nan"), 1.0])
        write_tensors("in.safetensors", [("fine", "F32", [4], pack("F32", [1.0] * 4)),
                                         ("with nan", "F32", [4], nan)])
        write("out.safetensors", b"old")
        words = ["in.safetensors", "fp4_e2m1", "out.safetensors", "--force", "--packing", "low"]
        require_failure(cast(*words), 3, "in.safetensors", "'with nan'", "element 2", "--overflow")
        require(read("out.safetensors") == b"old", "the target was touched")
        require_done(cast(*words, "--overflow", "saturate"))
        done = cast("in.safetensors", "fp8_e4m3fn", "event.safetensors", "--fail-on", "inexact")
        require(done.code == 0, "exit code", done.code)
        write_tensors("big.safetensors", [("a", "F32", [2], pack("F32", [1.0, 1e6]))])
        done = cast("big.safetensors", "fp16", "event.safetensors", "--fail-on", "overflow", "--force")
        require(done.code == 1 and os.path.getsize("event.safetensors") > 8, "exit code", done.code)


@check
def input_and_output_may_be_the_same_file():
    with folder() as path:
        os.mkdir("dir")
        tensors = [("a", "F32", [len(SMALL) // 4], SMALL)]
        wanted = safetensors([("a", "BF16", [len(SMALL) // 4], SMALL_CAST)])
        for name in ("m.safetensors", "./m.safetensors", "dir/../m.safetensors",
                     path + "/m.safetensors", "hard.safetensors", "soft.safetensors"):
            for other in ("m.safetensors", "hard.safetensors", "soft.safetensors"):
                if os.path.lexists(other):
                    os.unlink(other)
            write_tensors("m.safetensors", tensors)
            os.link("m.safetensors", "hard.safetensors")
            os.symlink("m.safetensors", "soft.safetensors")
            require_failure(cast("m.safetensors", "bf16", name), 4, "--force")
            require_done(cast("m.safetensors", "bf16", name, "--force"))
            require(read(name) == wanted, "wrong bytes", name)
            require(os.path.islink("soft.safetensors"), "the link was replaced")
        write_tensors("m.safetensors", tensors)
        for flags in (os.O_RDWR, os.O_WRONLY | os.O_APPEND):
            fd = os.open("m.safetensors", flags)
            done = cast("m.safetensors", "bf16", "-", stdout=fd)
            os.close(fd)
            require_failure(done, 2, "m.safetensors", "output")
            require(read("m.safetensors") == safetensors(tensors), "the input was touched")


@check
def links_lead_to_what_is_replaced():
    with folder():
        make("model", write_single)
        os.mkdir("dir")
        os.symlink("dir/new.safetensors", "dangling.safetensors")
        require_done(cast("model/model.safetensors", "bf16", "dangling.safetensors"))
        require(os.path.islink("dangling.safetensors") and os.path.isfile("dir/new.safetensors"),
                "the link was replaced")
        os.symlink("loop.safetensors", "loop.safetensors")
        for target in ("loop.safetensors", "none/x.safetensors", "dir", "dir/",
                       "model/model.safetensors/x"):
            done = cast("model/model.safetensors", "bf16", target, "--force", "--as", "safetensors")
            require(done.code in (2, 4) and done.stderr.count(b"\n") == 1, "exit code", target,
                    done.code, done.stderr)
        require(os.listdir("dir") == ["new.safetensors"], "left in dir", os.listdir("dir"))


@check
def a_dry_run_makes_nothing_and_tells_the_truth():
    with folder():
        make("model")
        for target in ("out.safetensors", "new/", "-", None):
            more = ["--dry-run"] + (["--as", "safetensors"] if target == "-" else [])
            planned = json.loads(require_done(cast("model", "bf16", target, *more, "--json")).stdout)
            require(sorted(os.listdir(".")) == ["in.bin", "model"], "made", os.listdir("."))
            require(planned["dry_run"] is True, "dry_run")
            if target in ("out.safetensors", "new/"):
                done = report("model", "bf16", target)
                require(done["output"] == planned["output"], "another output", target)
                for a, b in zip(done["tensors"], planned["tensors"]):
                    require(dict(a, loss=None) == b, "another tensor", a, b)
                sizes = [os.path.getsize(file["path"]) for file in done["output"]["files"]]
                require(sizes == [file["bytes"] for file in done["output"]["files"]], "sizes", sizes)
                for path in [file["path"] for file in done["output"]["files"]]:
                    os.unlink(path)
                if target == "new/":
                    os.rmdir("new")
        write("out.safetensors", b"old")
        require_failure(cast("model", "bf16", "out.safetensors", "--dry-run"), 4, "--force")
        require_failure(cast("model", "tf32", None, "--dry-run"), 2, "tf32")


@check
def hostile_names_reach_no_terminal():
    with folder():
        make("bad", write_hostile)
        for name in ("safetensors", "npz", "gguf"):
            for more in ([], ["-v"], ["--keep", "*\x1b*,\u202e"], ["--json"]):
                done = cast("bad/hostile." + name, "fp8_e4m3fn", "out.bin", "--as", "safetensors",
                            "--force", *more)
                for stream in (done.stdout, done.stderr):
                    text = stream.decode()
                    bad = [c for c in text if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or
                                                             c in "\u202e\u200b")]
                    if "--json" not in more or stream is done.stderr:
                        require(not bad, "raw characters", name, more, bad)
                if "--json" in more:
                    document = json.loads(done.stdout)
                    require(done.code != 0 or
                            {tensor["name"] for tensor in document["tensors"]} == set(HOSTILE),
                            "names", name)


@check
def little_memory_is_taken_whatever_the_size():
    if SANITIZED:
        return
    with folder():
        head = safetensors([("a", "F32", [1 << 28], b"")]).replace(b'[0,0]', b'[0,%d]' % (1 << 30))
        length = -(len(head) - 8) % 8
        head = struct.pack("<Q", len(head) - 8 + length) + head[8:] + b" " * length
        write("sparse.safetensors", head)
        os.truncate("sparse.safetensors", len(head) + (1 << 30))
        for target in ("/dev/null", "out.safetensors"):
            done = subprocess.run([MEASURE, "1", "/dev/null", PROGRAM, "cast", "sparse.safetensors",
                                   "fp8_e4m3fn", "-o", target, "--threads", "4"],
                                  env=environment(MALLOC_PERTURB_="0"),  # which would touch what nobody uses
                                  stdout=subprocess.PIPE, timeout=SECONDS, check=True)
            numbers = done.stdout.splitlines()[-1].split()
            require(int(numbers[4]) == 0, "status", numbers)
            print("        1 GiB to %s: %d KiB" % (target, int(numbers[3])))
            require(int(numbers[3]) <= 24 * 1024, "KiB used:", numbers[3])
        require(os.path.getsize("out.safetensors") >= 1 << 28, "size")


def tiny_tensors(count):
    header, offset, name = {}, 0, "model.layers.%d.self_attn.q_proj.weight"
    for i in range(count):
        header[name % i] = {"dtype": "F32", "shape": [4], "data_offsets": [offset, offset + 16]}
        offset += 16
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + pack("F32", [0.1, 1e9, 1e-9, -3.0]) * count


@check
def many_tensors_are_no_burden():
    with folder():
        count = 20000 if SANITIZED or QUICK else 100000
        write("many.safetensors", tiny_tensors(count))
        start = cpu_seconds()
        done = require_done(cast("many.safetensors", "bf16", "out.safetensors"))
        took = cpu_seconds() - start
        print("        %d tensors: %.2f s" % (count, took))
        require(took < 60 if SANITIZED else took < 5, "took long:", took)
        require(b"%d tensors" % count in done.stdout, "report", done.stdout)
        _, tensors = open_safetensors(read("out.safetensors"))
        require(len(tensors) == count and all(dtype == "BF16" for _, dtype, _, _ in tensors), "wrong")
        start = cpu_seconds()
        found = report("many.safetensors", "bf16", "out.safetensors", "--force")
        print("        with JSON: %.2f s" % (cpu_seconds() - start))
        require(len(found["tensors"]) == count, "JSON", len(found["tensors"]))
        whole, one = found["totals"], found["tensors"][0]["loss"]
        require(one["inexact"] == 3 and whole["elements"] == 4 * count, "counts", whole["elements"])
        require(all(tensor["loss"] == one for tensor in found["tensors"]), "losses differ")
        for name in ("inexact", "overflowed", "compared"):
            require(whole["loss"][name] == count * one[name], name, whole["loss"][name])
        for name in ("max_absolute_error", "max_relative_error", "mean_absolute_error"):
            require(whole["loss"][name] == one[name], name, whole["loss"][name], one[name])


@check
def many_tensors_take_little_memory_each():
    if SANITIZED:
        return
    with folder():
        count, most = 100000, 88 * 1024
        write("many.safetensors", tiny_tensors(count))
        for words in (("cast", "many.safetensors", "bf16", "-o", "out.safetensors"),
                      ("quant", "many.safetensors", "int8", "-o", "codes.safetensors"),
                      ("compare", "many.safetensors", "many.safetensors"),
                      ("inspect", "--stats", "many.safetensors"),
                      ("inspect", "many.safetensors"))[::4 if QUICK else 1]:
            done = subprocess.run([MEASURE, "1", "/dev/null", PROGRAM, *words], env=environment(MALLOC_PERTURB_="0"),
                                  stdout=subprocess.PIPE, timeout=SECONDS, check=True)
            _, _, _, peak, status = map(int, done.stdout.split())
            print("        %s: %d KiB" % (words[0], peak))
            require(status == 0 and peak <= most, "status and KiB used:", words, status, peak)


@check
def a_named_pipe_without_a_writer_is_not_waited_for():
    with folder():
        make("shards")
        shard = next(name for name in sorted(os.listdir("shards")) if name.endswith(".safetensors"))
        os.unlink("shards/" + shard)
        os.mkfifo("shards/" + shard)
        os.mkfifo("pipe.safetensors")
        for source, words in (("shards", "is not a regular file"),
                              ("shards/model.safetensors.index.json", "is not a regular file"),
                              ("pipe.safetensors", "is not seekable")):
            require_failure(cast(source, "bf16", "new/"), 3, words)
            require(not os.path.exists("new"), "the folder stayed")


@check
def arrays_of_anything_but_numbers_are_refused_as_input():
    with folder():
        pickled = b"\x80\x03cposix\nsystem\nX\x0c\x00\x00\x00touch markerq\x00\x85R."
        for descr, data, why in (("|O", pickled, "Python objects"), ("<U2", bytes(8), "text"),
                                 ("<M8[s]", bytes(8), "dates")):
            write("in.npy", npy(descr, (1,), data))
            require_failure(cast("in.npy", "bf16", "out.npy"), 3, "in.npy", "'data'", why)
        write("in.npy", npy([("a", "<f4"), ("b", "<i4")], (1,), bytes(8)))
        require_failure(cast("in.npy", "bf16", "out.npy"), 2, "2 tensors", "--select")
        require(not {"out.npy", "marker"} & set(os.listdir(".")), "made", os.listdir("."))


@check
def a_dry_run_without_a_name_tells_what_could_not_be_written():
    with folder():
        write("in.npz", npz({"__metadata__": npy("<f4", (1,), bytes(4))}))
        require_failure(cast("in.npz", "bf16", None, "--dry-run", "--as", "safetensors"), 3, "the output", "__metadata__")


if __name__ == "__main__":
    sys.exit(main())
