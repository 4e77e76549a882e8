#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dduf between dtinfo and huggingface_hub: dtinfo reads what export_entries_as_dduf() writes, and read_dduf_file() and
safetensors read what dtinfo writes from it, with the same members, names, metadata and shapes, and with the numbers
that numpy computes.

usage: test_dduf.py DTINFO
"""
import json
import sys
import zipfile

import harness

numpy, safetensors, hub = harness.have("numpy"), harness.have("safetensors"), harness.have("huggingface_hub")
if numpy is None or safetensors is None or hub is None or not hasattr(hub, "read_dduf_file"):
    print("skipped: needs numpy, safetensors and huggingface_hub with read_dduf_file()")
    sys.exit(77)
import safetensors.numpy

DTINFO = harness.Program(sys.argv[1])
require, run = DTINFO.require, DTINFO.run
RANDOM = numpy.random.default_rng(7)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(numpy.float32)


TENSORS = {
    "unet/diffusion_pytorch_model-00001-of-00002": {"conv_in.weight": floats(5, 3), "a": floats()},
    "unet/diffusion_pytorch_model-00002-of-00002": {"conv_out.weight": floats(300, 70), "b": floats(0, 4)},
    "vae/diffusion_pytorch_model": {"conv_in.weight": floats(7), "n": numpy.arange(5), "flag": numpy.array([True])},
    "text_encoder/model": {"h\u00e4.weight": floats(4, 4).astype(numpy.float16)},
    "empty/model": {},
}
FOLDERS = ("unet", "vae", "text_encoder", "empty", "tokenizer")
TEXTS = {"model_index.json": json.dumps({"_class_name": "P", **{name: ["a", "b"] for name in FOLDERS}}).encode(),
         "tokenizer/tokenizer_config.json": b"{}", "tokenizer/vocab.txt": "\u00fc\n".encode(),
         "tokenizer/spiece.model": bytes(range(256)) * 500,
         **{"%s/config.json" % name: b'{"a": 1}' for name in FOLDERS}}


def make(path, order):
    members = dict(TEXTS)
    for name, tensors in TENSORS.items():
        members[name + ".safetensors"] = safetensors.numpy.save(tensors, {"format": "pt", "of": name})
    names = sorted(members, key=order)
    hub.export_entries_as_dduf(path, [(name, members[name]) for name in names])
    return names


def metadata_of(data):
    return json.loads(data[8:8 + int.from_bytes(data[:8], "little")]).get("__metadata__")


def judge(path, names, cast):
    """All members of a file as the hub and zipfile read them; cast: the expected result for an array."""
    with zipfile.ZipFile(path) as archive:
        require(archive.testzip() is None, path, "testzip")
    entries = hub.read_dduf_file(path)
    require(list(entries) == names, path, list(entries))
    for name, entry in entries.items():
        require(entry.offset % 64 == 0 or path.startswith("in"), path, name, entry.offset)
        with entry.as_mmap() as data:
            if name in TEXTS:
                require(data == TEXTS[name], path, name)
                continue
            want = TENSORS[name.removesuffix(".safetensors")]
            require(metadata_of(data) == {"format": "pt", "of": name.removesuffix(".safetensors")}, path, name)
            found = safetensors.numpy.load(data)
            require(found.keys() == want.keys(), path, name, found.keys())
            for key, array in want.items():
                expected = cast(array)
                require(found[key].dtype == expected.dtype and found[key].shape == array.shape, path, name, key)
                require(found[key].tobytes() == expected.tobytes(), path, name, key)


def to_fp16(array):
    return array.astype(numpy.float16) if array.dtype == numpy.float32 else array


def judge_casts():
    for number, order in enumerate((lambda name: (name != "model_index.json", name), str, lambda name: name[::-1])):
        source = "in%d.dduf" % number
        names = make(source, order)
        judge(source, names, lambda array: array)
        want = {"%s/%s" % (part.split("/")[0], key) for part, tensors in TENSORS.items() for key in tensors}
        report = json.loads(run("inspect", source, "--json")[0])["files"][0]
        require(report["kind"] == "dduf" and {tensor["name"] for tensor in report["tensors"]} == want, source)
        run("check", source)
        run("cast", source, "fp16", "-o", "fp16-%d.dduf" % number, "--threads", number + 1)
        judge("fp16-%d.dduf" % number, names, to_fp16)
        run("cast", source, "fp16", "--keep", "*", "-o", "same-%d.dduf" % number)
        judge("same-%d.dduf" % number, names, lambda array: array)
        run("check", "fp16-%d.dduf" % number)


def judge_dequantized():
    """Scales next to their codes in a member are removed, and the dequantized values replace the codes."""
    codes, scale = RANDOM.integers(-127, 128, (6, 8)).astype(numpy.int8), numpy.float32(0.25)
    part = {"w.weight": codes, "w.weight_scale": numpy.full((6, 1), scale)}
    hub.export_entries_as_dduf("quantized.dduf", [
        ("model_index.json", b'{"unet": []}'), ("unet/config.json", b"{}"),
        ("unet/model.safetensors", safetensors.numpy.save(part))])
    run("quant", "quantized.dduf", "fp32", "--dequant", "-o", "numbers.dduf")
    with hub.read_dduf_file("numbers.dduf")["unet/model.safetensors"].as_mmap() as data:
        found = safetensors.numpy.load(data)
    require(list(found) == ["w.weight"], found.keys())
    require((found["w.weight"] == codes * scale).all(), found)


def main():
    harness.in_new_folder(judge_casts, judge_dequantized)
    print("%d checks" % DTINFO.checks)


if __name__ == "__main__":
    main()
