#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs divided among machines: parts in any order, twice, concurrently, killed midway; then the folder has the bytes
of a single run. Also what --finish reports about parts that are missing or were made differently."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zlib

from checkpoint_casts import open_safetensors, read, safetensors, write
from file_casts import RANDOM
from make_checkpoint import normals, pack, tensor
from output_sets import INDEX, folder, name_of, remove, strays
from survival import PROGRAM, SECONDS, check, environment, main, require, require_json_error, run

SHARDS = 7


def write_model(path, files):
    """Shards of [(name, dtype, shape, bytes)], their index, and other files of a model's folder."""
    os.makedirs(path)
    places = {}
    for at, tensors in enumerate(files):
        write(os.path.join(path, name_of(at, len(files))), safetensors(tensors, {"format": "pt", "a": "\u00e9"}))
        places.update({entry[0]: name_of(at, len(files)) for entry in tensors})
    write(os.path.join(path, INDEX), json.dumps({"metadata": {}, "weight_map": places}).encode())
    write(os.path.join(path, "config.json"), b'{"model_type": "llama", "rms_norm_eps": 1e-05}\n')
    write(os.path.join(path, "tokenizer.json"), b"{}")


def floats(count=SHARDS):
    """Half a layer per shard, of different sizes, in another order in every other shard. Loaders fuse two of the
    projections."""
    files = []
    for i in range(count):
        rows = 64 * (1 + i * 5 % 4)
        numbers = pack("F32", normals(1024, i))
        name = "model.layers.%d.%s_proj.weight" % (i // 2, "up" if i % 2 else "gate")
        layer = [(name, "F32", [rows, 128], numbers * (rows // 8)),
                 tensor("model.layers.%d.norm.weight" % i, "F32", [128], normals(128, 100 + i))]
        files.append(layer if i % 2 else layer[::-1])
    return files


def contents(path):
    """All files of a folder except the part records."""
    return {name: read(os.path.join(path, name)) for name in sorted(os.listdir(path)) if not name.endswith(".part")}


def scattered(path, target):
    """The same tensors, but those whose names do not end in "weight" move to the next shard: a tensor's scales are in
    another file than its codes."""
    names = sorted(name for name in os.listdir(path) if name.endswith(".safetensors"))
    files = [open_safetensors(read(os.path.join(path, name)))[1] for name in names]
    moved = [[entry for entry in tensors if entry[0].endswith("weight")] for tensors in files]
    for at, tensors in enumerate(files):
        moved[(at + 1) % len(files)] += [entry for entry in tensors if not entry[0].endswith("weight")]
    write_model(target, moved)
    shutil.copy(os.path.join(path, "config.json"), target)


def prepared(words):
    """Makes a model in "in", and the output of a single run."""
    write_model("floats", floats())
    if "--dequant" not in words and words[0] != "transcode":
        os.rename("floats", "in")
    else:
        layout = ["quant", "floats", "int8", "--per", "channel", "--keep", "*norm*", "-o", "codes", "-q"]
        require(run(layout).code == 0, "cannot quantize")
        scattered("codes", "in")
    done = run(words + ["-o", "one", "-q"])
    require(done.code == 0, "one run", done.stderr)
    require(len(contents("one")) == SHARDS + 3, "files of one run", os.listdir("one"))
    return contents("one")


RUNS = {
    "cast": ["cast", "in", "bf16", "--round", "stochastic", "--seed", "7"],
    "compressed-tensors": ["quant", "in", "int4", "--per", "block", "--block", "32", "--keep", "*norm*"],
    "nvfp4 with a tensor scale": ["quant", "in", "nvfp4", "--keep", "*norm*"],
    "bitsandbytes, nested": ["quant", "in", "nf4", "--layout", "bitsandbytes", "--nested-absmax",
                             "--keep", "*norm*"],
    "dequantize": ["quant", "in", "bf16", "--dequant"],
    "transcode": ["transcode", "in", "--to", "bf16"],
}


def start(words):
    return subprocess.Popen([PROGRAM] + words, env=environment(), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(words, *more):
    return run(words + ["-o", "out", "-q", "--finish"] + list(more))


def kill_some(words, parts):
    """Starts parts concurrently, and kills most of them at a random moment."""
    children = [start(words + ["-o", "out", "-q", "--part", part]) for part in parts]
    for child in children:
        if RANDOM.random() < 0.8:
            time.sleep(RANDOM.random() * 0.002)
            child.send_signal(signal.SIGKILL)
    return sum(child.wait(SECONDS) != 0 for child in children)


@check
def parts_in_any_order_killed_and_run_again_give_the_bytes_of_one_run():
    for what, words in RUNS.items():
        with folder():
            wanted = prepared(words)
            killed = 0
            for parts in (1, 2, 3, SHARDS, SHARDS + 3):
                remove("out")
                names = ["%d/%d" % (i + 1, parts) for i in range(parts)]
                for _ in range(2):
                    RANDOM.shuffle(names)
                    killed += kill_some(words, names)
                again = names + RANDOM.sample(names, min(2, parts))
                RANDOM.shuffle(again)
                children = [start(words + ["-o", "out", "-q", "--part", part]) for part in again]
                for part, child in zip(again, children):
                    stderr = child.communicate(timeout=SECONDS)[1]
                    require(child.returncode == 0, what, "part", part, child.returncode, stderr)
                if parts == SHARDS and os.path.isdir("out"):
                    require(INDEX not in os.listdir("out"), "an index without --finish")
                done = finish(words)
                require(done.code == 0, what, "finish", done.stderr)
                require(not strays(), "left behind", strays())
                require(contents("out") == wanted, what, "other bytes in", parts, "parts")
                require(finish(words).code == 0 and contents("out") == wanted, "a second --finish")
            print("        %s: %d killed" % (what, killed))


@check
def parts_of_different_numbers_may_be_mixed():
    words = RUNS["compressed-tensors"]
    with folder():
        wanted = prepared(words)
        for part in ("1/2", "2/3", "3/3", "1/3", "2/2"):
            require(run(words + ["-o", "out", "-q", "--part", part]).code == 0, "part", part)
        require(finish(words).code == 0 and contents("out") == wanted, "other bytes")


@check
def shards_are_dealt_out_by_their_new_size_there_and_back():
    words = RUNS["cast"]
    with folder():
        wanted = prepared(words)
        sizes = {name: len(data) for name, data in wanted.items() if name.startswith("model-")}
        order = sorted(sizes, key=lambda name: (-sizes[name], name))
        for parts in (2, 3, 5):
            turn = list(range(parts)) + list(range(parts))[::-1]
            for part in range(parts):
                remove("out")
                done = run(words + ["-o", "out", "-q", "--part", "%d/%d" % (part + 1, parts)])
                mine = sorted(name for i, name in enumerate(order) if turn[i % len(turn)] == part)
                require(done.code == 0 and sorted(contents("out")) == mine, "part", part, parts, mine)


def lines(done):
    return [line.split(": ", 1)[1] for line in done.stderr.decode().splitlines()]


@check
def what_is_missing_or_different_is_named_and_nothing_is_written():
    words = RUNS["cast"]
    with folder():
        wanted = prepared(words)
        for number in ("1/3", "2/3"):
            require(run(words + ["-o", "out", "-q", "--part", number]).code == 0, "part", number)
        before = contents("out")
        missing = sorted(set(name for name in wanted if name.startswith("model-")) - set(before))
        require(missing and len(before) + len(missing) == SHARDS, "shards", sorted(before))
        done = run(words + ["-o", "out", "--finish"])
        require(done.code == 1 and not done.stdout, "exit code", done.code, done.stdout)
        require(lines(done)[:-1] == ["'out/%s' is missing" % name for name in missing], "names", done.stderr)
        require("%d of 7 shards are missing in 'out'" % len(missing) in lines(done)[-1], "the last", done.stderr)
        require(contents("out") == before and not strays(), "something was written")
        error = require_json_error(words + ["-o", "out", "--finish", "-q"], 1, "answer_no")
        require("missing" in error["message"], "message", error)
        require(run(words + ["-o", "out", "-q", "--part", "3/3"]).code == 0, "part 3")

        name, good = name_of(2, SHARDS), wanted[name_of(2, SHARDS)]
        faults = {"a foreign file": (b"theirs", "has 6 bytes, not %d" % len(good)),
                  "another header": (good.replace(b"norm", b"form"), "has another header"),
                  "a cut file": (good[:-1], "has %d bytes" % (len(good) - 1)),
                  "a longer file": (good + b"x", "has %d bytes" % (len(good) + 1))}
        for what, (data, text) in faults.items():
            write("out/" + name, data)
            done = run(words + ["-o", "out", "--finish"])
            require(done.code == 1 and text in lines(done)[0] and name in lines(done)[0], what, done.stderr)
            require(len(lines(done)) == 2 and "1 of 7 shards in 'out' is different; run" in lines(done)[1], what, done.stderr)
            require(not os.path.exists("out/" + INDEX), "an index")
            codes = [run(words + ["-o", "out", "-q", "--part", "%d/3" % (i + 1)]) for i in range(3)]
            require(sorted(done.code for done in codes) == [0, 0, 4], "replaced without --force")
            require(any(b"exists; --force replaces it" in done.stderr for done in codes), "no remedy")
            require(read("out/" + name) == data and not strays(), "replaced")
            for i in range(3):
                done = run(words + ["-o", "out", "-q", "--force", "--part", "%d/3" % (i + 1)])
                require(done.code == 0, "with --force", done.stderr)
        write("out/config.json", b"{}")
        done = finish(words)
        require(done.code == 4 and b"config.json' exists" in done.stderr, "another config.json", done.stderr)
        require(not os.path.exists("out/" + INDEX), "an index")
        require(finish(words, "--force").code == 0 and contents("out") == wanted, "in the end")


@check
def another_input_is_seen_where_headers_show_it():
    words = RUNS["cast"]
    with folder():
        prepared(words)
        for i in range(3):
            require(run(words + ["-o", "out", "-q", "--part", "%d/3" % (i + 1)]).code == 0, "part", i)
        changed = floats()
        changed[4][0] = tensor("model.layers.4.norm2.weight", "F32", [128], normals(128, 1))
        shutil.rmtree("in")
        write_model("in", changed)
        done = run(words + ["-o", "out", "--finish"])
        require(done.code == 1 and any("/%s' has another header" % name_of(4, SHARDS) in line for line in lines(done)),
                "not named", done.stderr)
        require(sum(line.endswith("was made from another input") for line in lines(done)) == 6, "the others", done.stderr)
        other = ["cast", "in", "fp16"]
        done = run(other + ["-o", "out", "--finish"])
        require(done.code == 1 and "7 of 7 shards in 'out' are different" in lines(done)[-1], "other options", done.stderr)


@check
def a_part_that_fails_leaves_nothing():
    words = RUNS["cast"]
    with folder():
        prepared(words)
        name = "in/" + name_of(3, SHARDS)
        good = read(name)
        write(name, good[:-4])
        for i in range(3):
            done = run(words + ["-o", "out", "-q", "--part", "%d/3" % (i + 1)])
            require(done.code == 3 and not os.path.exists("out"), "a cut input", done.code, done.stderr)
        write(name, good)
        done = run(["cast", "in", "fp4_e2m1", "-o", "out", "-q", "--part", "2/3", "--nan", "error"])
        require(done.code != 0 and not os.path.exists("out"), "a usage error", done.code)
        for i, sent in enumerate((signal.SIGTERM, signal.SIGINT)):
            child = start(words + ["-o", "out", "-q", "--part", "1/1"])
            child.send_signal(sent)
            child.communicate(timeout=SECONDS)
            require(not strays(), "left behind", strays())
            remove("out")


@check
def a_killed_part_is_cleared_by_its_next_run_and_by_no_other():
    words = RUNS["cast"]
    with folder():
        wanted = prepared(words)
        met, begin = 0, time.monotonic()
        while met < 3 and time.monotonic() - begin < SECONDS:  # a short run may end before it is seen at work
            remove("out")
            child = start(words + ["-o", "out", "-q", "--part", "1/2"])
            while not strays() and child.poll() is None:
                pass
            child.kill()
            child.communicate(timeout=SECONDS)
            left = strays()
            if not left:
                continue
            require(len(left) == 1, "left behind", left)
            require(run(words + ["-o", "out", "-q", "--part", "2/2"]).code == 0, "the other")
            require(strays() == left, "removed by another part")
            if all(os.path.exists("out/" + name) for name in wanted if name.startswith("model-")):
                continue  # killed after its last shard had its name and before the temporary one was removed
            met += 1
            done = run(words + ["-o", "out", "--finish"])
            require(done.code == 1 and strays() == left, "finish", done.stderr)
            done = run(words + ["-o", "out", "--part", "1/2"])
            name = os.path.basename(left[0]).encode()
            require(done.code == 0 and name in done.stderr and b"is removed" in done.stderr, "named", done.stderr)
            require(not strays(), "not removed")
        require(met > 0, "no kill met a run at work")


def records():
    return sorted(name for name in os.listdir("out") if name.endswith(".part"))


def require_refused(words, what, *shards):
    """--finish writes nothing, and names these shards with that reason."""
    before = contents("out")
    done = run(words + ["-o", "out", "--finish"])
    require(done.code == 1, what, "accepted", done.code, done.stderr)
    lines = [line for line in done.stderr.decode().splitlines() if what in line]
    require(len(lines) == len(shards) and all(any(name in line for line in lines) for name in shards),
            "not named", what, shards, done.stderr)
    require(contents("out") == before, "written", what)


def changed_input(words, change):
    """A copy of the model "in" with the same headers, as "other"."""
    remove("other")
    shutil.copytree("in", "other")
    path = "other/" + name_of(2, SHARDS)
    data = bytearray(read(path))
    change(data)
    write(path, bytes(data))
    return ["other" if word == "in" else word for word in words]


def all_numbers(data):
    """Another model: changes every byte of the second half."""
    for at in range(len(data) // 2, len(data), 4):
        data[at] ^= 1


@check
def parts_of_other_inputs_options_and_bytes_are_refused():
    """A part's record against the arguments of --finish: each case separately, repaired by rerunning the named
    part."""
    for words in (RUNS["cast"], RUNS["compressed-tensors"], RUNS["dequantize"], RUNS["transcode"]):
        with folder():
            wanted = prepared(words)
            other = changed_input(words, all_numbers)
            more = ["--seed", "8"] if words[0] == "cast" else ["--lenient"] if "int4" not in words else ["--division", "reciprocal"]
            for what, made in (("was made from another input", other), ("was made with other options", words + more)):
                remove("out")
                for part in ("1/2", "2/2"):
                    require(run(words + ["-o", "out", "-q", "--part", part]).code == 0, "part", part)
                require(records() == ["." + name_of(i, SHARDS) + ".part" for i in range(SHARDS)], "records", records())
                before = {name: read("out/" + name) for name in records()}
                done = run(made + ["-o", "out", "-q", "--part", "2/2", "--force"])
                require(done.code == 0, "other part", done.stderr)
                shards = [name[1:-5] for name in records() if read("out/" + name) != before[name]]
                require(0 < len(shards) < SHARDS, "shards of part 2", shards)
                require_refused(words, what, *shards)
                require(run(words + ["-o", "out", "-q", "--part", "2/2", "--force"]).code == 0, "again")
                done = finish(words, "--check-parts")
                require(done.code == 0 and contents("out") == wanted and not records(), "repaired", what, done.stderr)


@check
def a_record_has_the_crc_of_its_shard_and_is_never_of_another():
    words = RUNS["cast"]
    with folder():
        wanted = prepared(words)
        for part in ("1/2", "2/2"):
            require(run(words + ["-o", "out", "-q", "--part", part, "--threads", "3"]).code == 0, "part", part)
        for i in range(SHARDS):
            lines = dict(line.split(" ") for line in read("out/.%s.part" % name_of(i, SHARDS)).decode().split("\n")[1:-1])
            data = read("out/" + name_of(i, SHARDS))
            require(int(lines["bytes"]) == len(data) and int(lines["crc32"], 16) == zlib.crc32(data), "record", lines)
        for at in (0, 100, -1, len(wanted[name_of(3, SHARDS)]) // 2):  # in the header, and in the data
            path = "out/" + name_of(3, SHARDS)
            whole = read(path)
            flipped = bytearray(whole)
            flipped[at] ^= 4
            write(path, bytes(flipped))
            done = run(words + ["-o", "out", "--finish", "--check-parts"])
            require(done.code == 1 and name_of(3, SHARDS).encode() in done.stderr, "a flipped bit", at, done.stderr)
            write(path, whole)
        os.unlink("out/.%s.part" % name_of(1, SHARDS))
        require_refused(words, "has no record of the part that wrote it", name_of(1, SHARDS))
        write("out/.%s.part" % name_of(1, SHARDS), b"x")
        require_refused(words, "has no record of the part that wrote it", name_of(1, SHARDS))
        require(run(words + ["-o", "out", "-q", "--part", "1/1"]).code == 0, "all again")
        require(finish(words, "--check-parts").code == 0 and contents("out") == wanted, "finished")
        require(finish(words).code == 0, "a second time")
        require(run(words + ["-o", "out", "--check-parts", "--force"]).code == 2, "--check-parts alone")


if __name__ == "__main__":
    sys.exit(main())
