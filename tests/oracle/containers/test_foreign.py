#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files and folders of other libraries are named, with what converts them, in one line and with exit code 3; and a
model in such a folder, or under such a name, is still read.

usage: test_foreign.py DTINFO
"""
import io
import json
import os
import struct
import sys
import zipfile

import harness

DTINFO = harness.Program(sys.argv[1])
require, run = DTINFO.require, DTINFO.run


def archive(*names):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name in names:
            file.writestr(name, "{}")
    return data.getvalue()


def safetensors():
    head = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    return struct.pack("<Q", len(head)) + head + bytes(4)


MSGPACK = b"\x82\xa6params\x81\xa1w\xc0\xa4step\x01"
FILES = {
    # name: content, what it is, what helps
    "model.tflite": (b"\x1c\0\0\0TFL3" + bytes(40), "TensorFlow Lite", "tf2onnx.convert"),
    "model": (b"\x20\0\0\0TFL3" + bytes(40), "TensorFlow Lite", "tf2onnx.convert"),
    "model.pte": (b"\x30\0\0\0ET12" + bytes(40), "ExecuTorch", "made from"),
    "openvino_model.xml": (b'<?xml version="1.0"?>\n<net name="m" version="11">\n</net>', "OpenVINO", "openvino"),
    "model.keras": (archive("metadata.json", "config.json", "model.weights.h5"), "Keras archive", "keras"),
    "flax_model.msgpack": (MSGPACK, "Flax", "msgpack_restore()"),
    "model.mlmodel": (b"\x08\x05\x12\x10" + bytes(20), "Core ML", "coremltools"),
    "frozen.pb": (b"\x0a\x20" + bytes(40), "TensorFlow graph", "tf2onnx"),
    "model.engine": (bytes(range(64)), "TensorRT", "made from"),
    "part.parquet": (b"PAR1" + bytes(20), "Parquet", "pyarrow"),
    "part.arrow": (b"ARROW1" + bytes(20), "Arrow", "pyarrow"),
    "model.h5": (b"\x89HDF\r\n\x1a\n" + bytes(20), "HDF5", "h5py"),
}
FOLDERS = {
    # a member: what the folder is, what helps
    "_CHECKPOINT_METADATA": ("Orbax", "orbax.checkpoint"), "manifest.ocdbt": ("Orbax", "orbax.checkpoint"),
    "zarr.json": ("zarr store", "zarr and numpy"), ".zgroup": ("zarr store", "zarr and numpy"),
    ".zarray": ("zarr array", "zarr and numpy"), "saved_model.pb": ("SavedModel", "tf2onnx"),
    "checkpoint": ("TensorFlow checkpoint", "load_checkpoint"),
    "Data/com.apple.CoreML/model.mlmodel": ("Core ML package", "coremltools"),
}


def refused(operand, what, remedy):
    for words in (("inspect", operand), ("cast", operand, "bf16", "-o", "never.safetensors"), ("compare", operand, operand)):
        _, said = run(*words, status=3)
        require(what in said and remedy in said and said.count("\n") == 1, words, said)
    require(not os.path.exists("never.safetensors"))
    out, _ = run("check", operand, status=1)
    require(what in out, operand, out)


def judge_files():
    for name, (content, what, remedy) in FILES.items():
        with open(name, "wb") as file:
            file.write(content)
        refused(name, what, remedy)


def judge_folders():
    for number, (member, (what, remedy)) in enumerate(FOLDERS.items()):
        path = os.path.join(f"d{number}", member)
        os.makedirs(os.path.dirname(path))
        with open(path, "wb") as file:
            file.write(b"{}")
        refused(f"d{number}", what, remedy)
        with open(f"d{number}/model.safetensors", "wb") as file:
            file.write(safetensors())
        require("1 tensor" in run("inspect", f"d{number}")[0], member)


def judge_known():
    """What the content shows counts before a name."""
    for name in ("model.msgpack", "model.mlmodel", "model.pb", "model.keras", "model.xml", "model.engine", "model.tflite"):
        with open(name, "wb") as file:
            file.write(safetensors())
        require("1 tensor" in run("inspect", name)[0], name)
    with open("other.xml", "w", encoding="ascii") as file:
        file.write("<?xml version='1.0'?><note/>")
    require("unknown file format" in run("inspect", "other.xml", status=3)[1], "other XML")


harness.in_new_folder(judge_files, judge_folders, judge_known)
print(DTINFO.checks, "checks")
