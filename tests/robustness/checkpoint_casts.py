# SPDX-License-Identifier: MIT
"""Shared by the survive_*checkpoint*.py tests, casts of tensor files: checkpoints, runs, a reader of the output, and
the expected output."""
import functools
import json
import os
import pathlib
import struct
import subprocess
import sys

from file_casts import MIB, folder, read, write
from make_checkpoint import model, safetensors, write_others, write_sharded, write_single
from survival import PROGRAM, SECONDS, environment, require

import formats  # the reference of the oracle tests: exact, and independent

__all__ = ["MIB", "folder", "read", "write"]

FORMATS = formats.build()
OURS = {"F64": "fp64", "F32": "fp32", "F16": "fp16", "BF16": "bf16", "F8_E4M3": "fp8_e4m3fn", "F8_E5M2": "fp8_e5m2"}
SIZES = {"I64": 8, "F64": 8, "BOOL": 1, "F32": 4, "F16": 2, "BF16": 2, "F8_E4M3": 1, "F8_E5M2": 1}


def cast(source, dtype, target, *more, prefix=(), **options):
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    options.setdefault("stdin", subprocess.DEVNULL)
    words = ["cast", source, dtype] + (["-o", target] if target else []) + list(more)
    done = subprocess.run(list(prefix) + [PROGRAM] + words, env=environment(), timeout=SECONDS,
                          **options)
    done.code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return done


def require_done(done):
    require(done.code == 0, "exit code", done.code, done.stderr)
    return done


def report(*words):
    """The JSON report of a cast."""
    return json.loads(require_done(cast(*words, "--json")).stdout)


def open_safetensors(data):
    """(metadata, [(name, dtype, shape, bytes)] in data order); strict about the layout."""
    length, = struct.unpack_from("<Q", data)
    text = data[8:8 + length]
    require(length % 8 == 0 and text[:1] == b"{", "the header is not as it should be", length)
    header = json.loads(text.decode())
    metadata = header.pop("__metadata__", None)
    if metadata is not None:
        require(text.startswith(b'{"__metadata__"'), "metadata does not come first")
    end, tensors = 8 + length, []
    for name, entry in header.items():
        first, last = (8 + length + offset for offset in entry["data_offsets"])
        require(first == end, "a gap, an overlap or another order", name)
        tensors.append((name, entry["dtype"], entry["shape"], data[first:last]))
        end = last
    require(end == len(data), "bytes behind the data", len(data) - end)
    return metadata, tensors


@functools.lru_cache(maxsize=None)
def rounded(code, source, target):
    """Casts the code of one dtype to another, rounded to nearest even, by exact rationals."""
    cls, negative, value = FORMATS[source].decode(code)
    return formats.encode(FORMATS[target], cls, negative, abs(value) if value is not None else value)[0]


def cast_bytes(data, source, target):
    """The expected bytes of a tensor after a cast; names as in safetensors."""
    codes = [int.from_bytes(data[i:i + SIZES[source]], "little")
             for i in range(0, len(data), SIZES[source])]
    return b"".join(rounded(code, OURS[source], OURS[target]).to_bytes(SIZES[target], "little")
                    for code in codes)


def cast_model(target, tensors=None):
    """The tensors of make_checkpoint.py's model after a cast that keeps non-floats."""
    return [(name, target, shape, cast_bytes(data, dtype, target)) if dtype in OURS
            else (name, dtype, shape, data) for name, dtype, shape, data in tensors or model()]


def in_order(tensors):
    """The order in safetensors files: input order, unless that misaligns a tensor's elements; then by descending
    element size, equal sizes in input order."""
    end, aligned = 0, True
    for _, dtype, _, data in tensors:
        aligned = aligned and end % SIZES.get(dtype, 8) == 0
        end += len(data)
    return tensors if aligned else sorted(tensors, key=lambda tensor: -SIZES.get(tensor[1], 8))


def make(path, *writers):
    """A folder with files as make_checkpoint.py writes them."""
    os.makedirs(path, exist_ok=True)
    for writer in writers or (write_sharded,):
        writer(pathlib.Path(path))


def write_tensors(path, tensors, metadata=None):
    write(path, safetensors(tensors, metadata))


def shards_of(path):
    """{shard: its tensors} of a folder, and its index; each tensor must be where the index says."""
    index = json.loads(read(os.path.join(path, "model.safetensors.index.json")))
    found = {name: open_safetensors(read(os.path.join(path, name)))[1]
             for name in sorted(set(index["weight_map"].values()))}
    places = {tensor[0]: name for name, tensors in found.items() for tensor in tensors}
    require(places == index["weight_map"], "the index and the shards differ", places)
    total = sum(len(data) for tensors in found.values() for *_, data in tensors)
    require(index["metadata"]["total_size"] == total, "total_size", index["metadata"], total)
    return found, index


__all__ += ["make", "model", "safetensors", "write_others", "write_sharded", "write_single"]
