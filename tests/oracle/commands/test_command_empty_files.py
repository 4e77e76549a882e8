#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A valid file without tensors is a file of 0 tensors, in every format and for every command that reads files; only a
command that needs a tensor fails, and reports why. A table: formats by commands.

    test_command_empty_files.py build/dtinfo
"""
import io
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile

from make_pickles import archive, legacy, state

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "data"))
import make_onnx  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
NONE = "no quantized tensors found"
# The command, its exit code, and text expected in its answer or message.
COMMANDS = (
    ("inspect FILE", 0, "0 tensors"), ("inspect FILE --stats", 0, "0 tensors"), ("check FILE", 0, "0 tensors"),
    ("check FILE --no-nan --fits fp16", 0, "0 tensors"), ("check FILE --quantized", 0, "0 tensors"),
    ("compare FILE FILE", 0, "equal: 0 tensors"), ("explain FILE FILE", 0, "explained: 0 tensors"), ("mem FILE", 0, "0 tensors"),
    ("cast FILE bf16 -o out.safetensors --force", 0, "0 tensors"), ("quant FILE int8 -o out.safetensors --force", 0, "0 tensors"),
    ("quant FILE bf16 --dequant -o new.safetensors", 3, NONE), ("transcode FILE --to bf16 -o new.safetensors", 3, NONE),
    ("transcode FILE --to modelopt -o new.safetensors", 3, NONE), ("calc sum(@FILE:w) fp32", 2, ""),
    ("check FILE --only w --no-nan", 2, "no tensor"),
)


INDEX = json.dumps({"metadata": {"total_size": 0}, "weight_map": {}}).encode()


def kinds():
    """File contents by name."""
    npz = io.BytesIO()
    zipfile.ZipFile(npz, "w").close()
    return {
        "a.safetensors": struct.pack("<Q", 8) + b"{}      ", "a.npz": npz.getvalue(), "a.pt": archive(state({})),
        "values.pt": archive(state({"a": b"N"})), "old.pt": legacy(state({}), keys=()), "a.onnx": make_onnx.model(),
        "a.gguf": b"GGUF" + struct.pack("<IQQ", 3, 0, 0) + bytes(8), "model.safetensors.index.json": INDEX,
        "pytorch_model.bin.index.json": INDEX}


def main():
    checked = wrong = 0
    for name, data in kinds().items():
        pathlib.Path(name).write_bytes(data)
        for words, code, said in COMMANDS:
            done = subprocess.run([PROGRAM, *words.replace("FILE", name).split()], capture_output=True, check=False)
            text = (done.stdout + done.stderr).decode()
            checked += 1
            if done.returncode != code or said not in text or os.path.exists("new.safetensors"):
                wrong += 1
                print("%s, %s: exit %d, not %d with %r: %s" % (name, words, done.returncode, code, said, text.strip()))
    print("%d checks, %d wrong" % (checked, wrong))
    return wrong > 0 or checked < 100


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        failed = main()
    sys.exit(failed)
