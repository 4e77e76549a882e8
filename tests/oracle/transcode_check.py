# SPDX-License-Identifier: MIT
"""Shared by the tests of `dtinfo transcode`: files of quantized tensors, their reports, and their numbers."""
import json
import logging
import os
import shutil
import subprocess
import sys
import warnings

from harness import Tally, have

PROGRAM = os.path.abspath(sys.argv[1])
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")
if not have("numpy"):
    print("skipped: needs numpy")
    sys.exit(77)
import numpy as np
from layout_files import E2M1, E4M3
from tensor_files import read_file, write_file

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
os.environ["TORCHDYNAMO_DISABLE"] = "1"
torch = have("torch")
RANDOM = np.random.default_rng(20261123)
F32, TALLY = np.float32, Tally()
NUMPY = {"U8": np.uint8, "F8_E4M3": np.uint8, "F8_E8M0": np.uint8, "F8_E5M2": np.uint8, "F32": F32, "F16": np.float16, "BF16": np.uint16,
         "U32": np.uint32, "I32": np.int32, "I64": np.int64, "I8": np.int8}


def run(*words, code=0):
    done = subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != code:
        sys.exit("%s: exit %d, wanted %d: %s" % (" ".join(words), done.returncode, code, done.stderr.decode()))
    return done.stdout.decode() if code == 0 else done.stderr.decode()


def write(path, tensors, config=None):
    folder = os.path.dirname(path)
    if folder:
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
    write_file(path, {name: (dtype, a.shape, np.ascontiguousarray(a).tobytes()) for name, (dtype, a) in tensors.items()})
    if config:
        with open(os.path.join(folder, "config.json"), "w") as file:
            json.dump({"quantization_config": config}, file)


def read(path):
    return {name: np.frombuffer(raw, NUMPY[dtype]).reshape(shape) for name, (dtype, shape, raw) in
            read_file(path).items()}


def shards(folder):
    """All tensors of a folder."""
    result = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".safetensors"):
            result.update(read(os.path.join(folder, name)))
    return result


def transcode(source, layout, out, *more):
    """The report on each tensor."""
    said = json.loads(run("transcode", source, "--to", layout, "-o", out, "--force", "--json", *more))
    return {t["name"]: t for t in said["translated"]}


def pairs(codes):
    """One code per byte, from two per byte."""
    return np.stack([codes & 15, codes >> 4], -1).reshape(*codes.shape[:-1], -1)


def equal(what, got, want):
    """Compares bit for bit."""
    TALLY.checked += want.size
    got, want = np.ascontiguousarray(got, F32), np.ascontiguousarray(want, F32)
    if got.shape != want.shape:
        TALLY.differ(what, got.shape, want.shape)
    elif (different := int(((got.view(np.uint32) != want.view(np.uint32)) & ~(np.isnan(got) & np.isnan(want))).sum())):
        TALLY.differ(what, "%d others" % different, "equal bits")


def nvfp4(parts, name, layout, like=None):
    """Numbers by the layout's formula: modelopt's factor, or the divisor of compressed-tensors; vLLM takes the
    divisor's reciprocal once."""
    if layout == "modelopt":
        codes, factor = parts[name], parts[name + "_scale_2"].reshape(())
    else:
        codes, divisor = parts[name + "_packed"], parts[name + "_global_scale"][0]
        if not like:
            return np.repeat(E4M3[parts[name + "_scale"]] / divisor, 16, -1) * E2M1[pairs(codes)]
        factor = F32(1) / divisor
    scales = E4M3[parts[name + "_scale"]] * factor
    return np.repeat(scales, 16, -1) * E2M1[pairs(codes)]


def mx(codes, scales):
    with np.errstate(over="ignore"):
        powers = np.where(scales == 255, F32(np.nan), np.ldexp(F32(1), scales.astype(np.int32) - 127).astype(F32))
        return np.repeat(powers, 32, -1) * codes
