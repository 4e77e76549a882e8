#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of fuzz_pickle: a file of each format, and pickles with each kind of tensor.

    make_pickle_seeds.py FOLDER
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "makers"))
from make_pickles import HOOKS, archive, legacy, name, number, numbers, state, storage, tensor, text  # noqa: E402

UNTYPED = storage("1", "UntypedStorage", 7, "torch.storage")
FP8 = tensor(UNTYPED, 1, (2, 3), (3, 1), "_rebuild_tensor_v3", name("torch", "float8_e4m3fn"))
PARAMETER = name("torch._utils", "_rebuild_parameter") + b"(" + tensor() + b"\x88" + HOOKS + b"tR"
SUBCLASS = (name("torch._tensor", "_rebuild_from_type_v2") + b"(" + name("torch._utils", "_rebuild_tensor_v2") +
            name("my", "Tensor") + tensor()[len(name("torch._utils", "_rebuild_tensor_v2")):-1] + b"}tR")
META = (name("torch._utils", "_rebuild_meta_tensor_no_storage") + b"(" + name("torch", "float32") + numbers((2, 3)) +
        numbers((3, 1)) + b"\x89tR")
SPARSE = (name("torch._utils", "_rebuild_sparse_tensor") + b"(" + name("torch.serialization", "_get_layout") +
          text("torch.sparse_coo") + b"\x85R(" + tensor() + tensor() + numbers((2, 3)) + b"ttR")
LONG = storage("2", "LongStorage", 8)
VIEWS = state({"t": tensor(LONG, 0, (2, 4), (1, 2)), "s": tensor(LONG, 1, (2, 2), (4, 2)),
               "e": tensor(LONG, 3, (3, 2), (0, 1)), "none": tensor(LONG, 8, (0, 3), (3, 1)), "0": tensor(LONG, 7, (), ())})
NESTED = (b"\x80\x04\x95" + bytes(8) + b"}\x94(\x8c\1a]\x94(" + tensor() + b"h\2e\x8c\1b" + number(5) + b"\x8c\1c" +
          text("collections") + text("OrderedDict") + b"\x93)R" + text("d") + tensor() + b"s}" + text("_metadata") +
          b"Nsbu.")
DTYPE = name("numpy", "dtype") + text("f2") + b"\x89\x88\x87R(K\3" + text(">") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb"
ARRAY = (name("numpy._core.multiarray", "_reconstruct") + name("numpy", "ndarray") + b"K\0\x85C\1b\x87R(K\1K\2K\2\x86" + DTYPE +
         b"\x88C\x08abcdefghtb")
ENCODED = ARRAY.replace(b"C\x08abcdefgh", name("_codecs", "encode") + text("abcdefg\u00e9") + text("latin1") + b"\x86R")
BUFFER = (name("numpy._core.numeric", "_frombuffer") + b"(\x96\x08\0\0\0\0\0\0\0abcdefgh" + DTYPE + b"K\2K\2\x86" + text("K") +
          b"K\1K\0\x86tR")
SEEDS = {
    "arrays": b"1" + state({"a": ARRAY, "b": ENCODED, "c": BUFFER}),
    "text": b"0(Vo\\u0073\np1\n0g1\nS'sys\\x74em'\n\x93(S'x'\ntR.\x80\4cos\nsystem\n.(ios\nsystem\n.",
    "zip": b"0" + archive(state({"a": tensor()})),
    "older": b"0" + legacy(state({"a": tensor()})),
    "v2": b"1" + state({"a": tensor(), "b": tensor(shape=(2, 2), strides=(2, 1))}),
    "v3": b"1" + state({"a": FP8}),
    "parameter": b"1" + state({"a": PARAMETER, "b": SUBCLASS}),
    "absent": b"1" + state({"a": META, "b": SPARSE}),
    "views": b"1" + VIEWS,
    "nested": b"1" + NESTED,
    "object": b"4" + state({"a": tensor(), "b": name("os", "system") + text("x") + b"\x85R"}),
    "list": b"1\x80\x02](" + tensor() + b"q\0h\0\x85e.",
    "keys": b"2" + legacy(state({"a": tensor()})).split(b"little_endian\x88s.")[1],
}

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for seed, content in SEEDS.items():
    (folder / seed).write_bytes(content)
