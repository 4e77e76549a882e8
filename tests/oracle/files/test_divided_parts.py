# SPDX-License-Identifier: MIT
"""Quantized tensors with their parts apart: in different shards, distributed in several ways, or in one storage of a
PyTorch file under two names. Every reader gives the same result as for the same tensors in one file; a missing shard
is named.

usage: test_divided_parts.py DTINFO FOLDER     FOLDER: tests/data
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from harness import Tally, have

if not have("numpy"):
    print("skipped: needs numpy")
    sys.exit(77)
import lint_files
from tensor_files import read_file, write_file

PROGRAM, DATA = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
from make_pickles import archive, state, storage, tensor

TALLY = Tally()
INDEX = "model.safetensors.index.json"


def run(*words):
    return subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)


def put_config(folder, config):
    if config is not None:
        with open(folder + "/config.json", "w") as file:
            json.dump(config, file)


def write_one(folder, tensors, config):
    fresh(folder)
    write_file(folder + "/model.safetensors", tensors)
    put_config(folder, config)


def write_shards(folder, tensors, config, deal):
    """deal: maps each name to its shard number."""
    fresh(folder)
    names = {name: "model-%05d.safetensors" % deal[name] for name in tensors}
    for file in sorted(set(names.values())):
        write_file(folder + "/" + file, {name: tensors[name] for name in tensors if names[name] == file})
    size = sum(len(raw) for _, _, raw in tensors.values())
    with open(folder + "/" + INDEX, "w") as file:
        json.dump({"metadata": {"total_size": size}, "weight_map": names}, file)
    put_config(folder, config)
    return names


def deals(tensors):
    names = sorted(tensors)
    yield "one after the other", {name: at for at, name in enumerate(names)}
    yield "the last first", {name: len(names) - at for at, name in enumerate(names)}
    yield "in two", {name: at % 2 for at, name in enumerate(names)}
    yield "by their ends", {name: sorted({n.rsplit(".", 1)[-1] for n in names}).index(name.rsplit(".", 1)[-1]) for name in names}


def numbers(path, out="out"):
    """All tensors after dequantization, or the error without file positions."""
    shutil.rmtree(out, ignore_errors=True)
    os.mkdir(out)
    done = run("quant", path, "fp32", "--dequant", "-o", out + ("/" if os.path.isdir(path) else "/m.safetensors"), "-q", "--force")
    if done.returncode:
        return done.returncode, done.stderr.count(b"\n")
    found = {}
    for name in sorted(os.listdir(out)):
        if name.endswith(".safetensors"):
            found.update(read_file(out + "/" + name))
    return found


def rules(path):
    done = run("check", path, "--quantized", "--json")
    rows = {row["name"]: row for row in json.loads(done.stdout)["files"][0]["assertions"]}
    return done.returncode, rows["valid"]["ok"], sorted((f["rule"] or "", f["tensor"] or "") for f in rows["quantized"]["failures"])


def statistics(path):
    tensors = json.loads(run("inspect", path, "--stats", "--json").stdout)["files"][0]["tensors"]
    return sorted((t["name"], t["dtype"], json.dumps(t["shape"]), json.dumps(t.get("stats"), sort_keys=True)) for t in tensors)


def in_shards(what, tensors, config):
    write_one("one", tensors, config)
    want = numbers("one"), rules("one"), statistics("one")
    TALLY.check(what + ": is read", isinstance(want[0], dict), True)
    for how, deal in deals(tensors):
        names = write_shards("many", tensors, config, deal)
        label = "%s, %s" % (what, how)
        TALLY.check(label + ": numbers", numbers("many") == want[0], True)
        TALLY.check(label + ": findings", rules("many"), want[1])
        TALLY.check(label + ": statistics", statistics("many") == want[2], True)
        done = run("compare", "one", "many")
        TALLY.check(label + ": compare", (done.returncode, done.stderr), (0, b""))
    for file in sorted(set(names.values())):
        os.rename("many/" + file, "gone")
        for words in (["quant", "many", "fp32", "--dequant", "-o", "left/", "-q"], ["transcode", "many", "--to", "bf16", "-o", "left/"],
                      ["inspect", "many"], ["inspect", "many", "--stats"], ["compare", "many", "one"]):
            done = run(*words)
            TALLY.check("%s: %s without %s" % (what, words[0], file),
                        (done.returncode, done.stderr.count(b"\n"), file.encode() in done.stderr, os.path.exists("left")), (3, 1, True, False))
        code, valid, _ = rules("many")
        TALLY.check("%s: check without %s" % (what, file), (code, valid), (1, False))
        os.rename("gone", "many/" + file)


def part_is_missing(what, tensors, config):
    """The same verdict from the file and from its shard and the index."""
    for name in tensors:
        less = {other: value for other, value in tensors.items() if other != name}
        write_one("one", less, config)
        write_shards("many", less, config, {other: at % 3 for at, other in enumerate(less)})
        TALLY.check("%s without %s: findings" % (what, name), rules("many"), rules("one"))
        one, many = numbers("one"), numbers("many")
        TALLY.check("%s without %s: numbers" % (what, name), many == one, True)


STORAGES = {"I32": ("IntStorage", 4), "F16": ("HalfStorage", 2), "BF16": ("BFloat16Storage", 2), "F32": ("FloatStorage", 4),
            "I64": ("LongStorage", 8), "U8": ("ByteStorage", 1), "I8": ("CharStorage", 1)}


def as_pickle(tensors, ties):
    """ties: {name: name of the tensor whose storage it shares}."""
    keys, data, items = {}, {}, {}
    for name, (dtype, shape, raw) in tensors.items():
        keys[name] = str(len(keys))
        data[keys[name]] = raw
    for name, of in list(ties.items()) + [(name, name) for name in tensors]:
        dtype, shape, raw = tensors[of]
        kind, size = STORAGES[dtype]
        strides = [1]
        for length in shape[:0:-1]:
            strides.insert(0, strides[0] * length)
        items[name] = tensor(storage(keys[of], kind, len(raw) // size), 0, tuple(shape), tuple(strides if shape else ()))
    return archive(state(items), data)


def tied(what, tensors, config):
    """Two names for the same bytes."""
    ties = {"tied." + name: name for name in tensors}
    both = {**tensors, **{name: tensors[of] for name, of in ties.items()}}
    for many, folder in ((both, "one"), (tensors, "single")):
        write_one(folder, many, config)
    fresh("pickled")
    pathlib.Path("pickled/pytorch_model.bin").write_bytes(as_pickle(tensors, ties))
    put_config("pickled", config)
    path = "pickled/pytorch_model.bin"
    TALLY.check(what + ", tied: numbers", numbers(path) == numbers("one"), True)
    TALLY.check(what + ", tied: statistics", statistics(path) == statistics("one"), True)
    TALLY.check(what + ", tied: findings", rules(path), rules("one"))
    for text in ("{", "[]", json.dumps({**config, "quantization_config": 1})):
        pathlib.Path("pickled/config.json").write_text(text)
        pathlib.Path("one/config.json").write_text(text)
        TALLY.check("%s, tied: findings of the configuration %s" % (what, text[:9]), rules(path), rules("one"))
        TALLY.check("%s, tied: the configuration %s fails" % (what, text[:9]), rules(path)[0], 1)
    put_config("pickled", config)
    put_config("one", config)
    TALLY.check(what + ", tied: a note", b"share" in run("inspect", path).stdout, True)
    for name in numbers("single"):
        found = numbers(path)
        TALLY.check(what + ", tied: both are there", found.get("tied." + name) == found.get(name) is not None, True)


def overlaps():
    """safetensors has no tied tensors: two names for the same bytes are refused."""
    fresh("one")
    header = json.dumps({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
                         "b": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    pathlib.Path("one/model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    for words in (["inspect", "one"], ["cast", "one", "bf16", "-o", "left/"], ["inspect", "one/model.safetensors"]):
        done = run(*words)
        TALLY.check("overlapping tensors: " + words[0], (done.returncode, done.stderr.count(b"\n")), (3, 1))
    TALLY.check("overlapping tensors: check", run("check", "one").returncode, 1)


def main():
    bases = lint_files.checkpoints()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, (tensors, config) in bases.items():
            in_shards(name, tensors, config)
        for name in ("bitsandbytes", "bitsandbytes_int8", "modelopt_awq"):
            in_shards("tests/data/" + name, read_file(DATA / (name + ".safetensors")), None)
        TALLY.part("shards")
        for name in ("pack-quantized", "nvfp4", "gptq", "mlx", "fp8 blocks"):
            tensors, config = bases[name]
            few = {key: value for key, value in tensors.items() if "up_proj" in key or "lm_head" in key}
            part_is_missing(name, few, config)
        TALLY.part("parts that are missing")
        for name in ("gptq", "awq", "pack-quantized", "asymmetric", "integers"):
            tensors, config = bases[name]
            tied(name, {key: value for key, value in tensors.items() if value[0] in STORAGES}, config)
        overlaps()
        TALLY.part("tied")
        os.chdir("/")
    return TALLY.finish()


sys.exit(main())
