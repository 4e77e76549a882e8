#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Layouts that are recognised and not decoded: named by inspect, check --quantized, quant --dequant and transcode;
nothing is called fine, and nothing is written. EXL3's matrices have their logical shapes and parameters.

usage: test_unread_layouts.py DTINFO
"""
import json
import os
import struct
import sys

import harness

DTINFO = harness.Program(sys.argv[1])
require, run = DTINFO.require, DTINFO.run
SIZES = {"F16": 2, "I16": 2, "I32": 4, "U8": 1, "F32": 4}
M = "model.layers.0.mlp.up_proj"


def save(path, tensors):
    """tensors: name: (dtype, shape)"""
    head, at = {}, 0
    for name, (dtype, shape) in tensors.items():
        size = SIZES[dtype]
        for side in shape:
            size *= side
        head[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(head).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + bytes(at))


def config(**block):
    with open("m/config.json", "w", encoding="ascii") as file:
        json.dump({"quantization_config": block} if block else {}, file)


def exl3(inputs, outputs, bits, module=M, sides=(".suh", ".svh")):
    found = {module + ".trellis": ("I16", (inputs // 16, outputs // 16, 16 * bits)), module + ".mcg": ("I32", ())}
    for side, length in zip(sides, (inputs, outputs)):
        found[module + side] = ("F16", (length,)) if len(side) == 4 else ("I16", (length // 16,))
    return found


OTHERS = {
    "EXL2": ("exllamav2", {M + ".q_weight": ("I32", (32, 64)), M + ".q_groups": ("I16", (8,)), M + ".q_scale": ("I32", (4, 8)),
                           M + ".q_scale_max": ("F16", (4,)), M + ".q_invperm": ("I32", (128,))}),
    "HQQ": ("HQQLinear", {M + ".W_q": ("U8", (64, 64)), M + ".scale": ("F16", (1, 128)), M + ".zero": ("F16", (1, 128))}),
    "AQLM": ("aqlm", {M + ".codes": ("I16", (64, 16, 1)), M + ".codebooks": ("F16", (1, 256, 1, 8)),
                      M + ".scales": ("F16", (64, 1, 1, 1))}),
    "VPTQ": ("vptq", {M + ".indices": ("I32", (1, 8, 16)), M + ".centroids.weight": ("F16", (1, 2048))}),
    "QuIP#": ("quip-sharp", {M + ".Qidxs": ("I16", (64, 16)), M + ".SU": ("F16", (128,)), M + ".SV": ("F16", (64,))}),
    "QTIP": ("QTIP", {M + ".trellis": ("I16", (32, 64)), M + ".SU": ("F16", (128,)), M + ".SV": ("F16", (64,))}),
    "SpQR": ("spqr_quant", {M + ".dense_weights": ("I32", (64, 32)), M + ".row_offsets": ("I32", (65,))}),
}


def refused(name, reader):
    out, _ = run("check", "m", "--quantized", status=1)
    require("unsupported" in out and f"codes of {name}" in out and reader in out, name, out)
    for words in (("quant", "--dequant", "m", "bf16", "-o", "never.safetensors"),
                  ("transcode", "m", "--to", "bf16", "-o", "never.safetensors")):
        _, said = run(*words, status=3)
        require(f"holds codes of {name}, which are not decoded; " in said and reader in said, words, said)
        require(not os.path.exists("never.safetensors"), words)
    note = [n["message"] for n in inspected()["notes"] if n["code"] == "read_as_stored"]
    require(len(note) == 1 and f"codes of {name}" in note[0], name, note)


def inspected():
    return json.loads(run("inspect", "m", "--json")[0])["files"][0]


def judge_exl3():
    plain = {"model.embed_tokens.weight": ("F16", (96, 64)), "model.norm.weight": ("F16", (64,))}
    for inputs, outputs, bits, sides in ((64, 128, 4, (".suh", ".svh")), (256, 48, 3, (".su", ".sv")), (16, 16, 8, (".suh", ".svh"))):
        save("m/model.safetensors", dict(plain, **exl3(inputs, outputs, bits, sides=sides)))
        config(quant_method="exl3", bits=bits + 0.25, head_bits=6, version="0.0.6")
        refused("EXL3", "exllamav3")
        file = inspected()
        weight = next(t for t in file["tensors"] if t["name"] == M + ".trellis")
        require((weight["shape"], weight["elements"], weight["stored_as"], weight["dtype"], weight["bytes"]) ==
                ([outputs, inputs], inputs * outputs, f"EXL3 {bits} bits", None, inputs * outputs * bits // 8), weight)
        require(file["totals"]["parameters"] == inputs * outputs + 96 * 64 + 64, file["totals"])
        require("not decoded" in weight["refusal"], weight)
        out, _ = run("inspect", "m", "--raw")
        require(f"[{inputs // 16}, {outputs // 16}, {16 * bits}]" in out, out)
        _, said = run("calc", f"sum(@m:{M}.trellis)", "fp32", status=3)
        require("not decoded" in said, said)
        run("compare", "m", "m")
    # a shape that is not EXL3's is not interpreted
    save("m/model.safetensors", {M + ".trellis": ("I16", (4, 4, 17)), M + ".suh": ("F16", (64,))})
    require(inspected()["tensors"][0]["shape"] in ([4, 4, 17], [64]), inspected())


def judge_others():
    for name, (reader, tensors) in OTHERS.items():
        save("m/model.safetensors", tensors)
        os.remove("m/config.json") if os.path.exists("m/config.json") else None
        refused(name, reader)
        # without the second part nothing is claimed
        second = list(tensors)[1]
        save("m/model.safetensors", {key: value for key, value in tensors.items() if key != second})
        require(f"codes of {name}" not in run("inspect", "m")[0], name)


def judge_configuration():
    """SDNQ has common names, and shows in its configuration only; averages of bits are for such layouts only."""
    save("m/model.safetensors", {M + ".weight": ("U8", (64, 64)), M + ".weight_scale": ("F32", (64, 1))})
    config(quant_method="sdnq", weights_dtype="uint4", group_size=0)
    out, _ = run("check", "m", "--quantized", status=1)
    require("unsupported" in out and "sdnq" in out, out)
    _, said = run("quant", "--dequant", "m", "bf16", "-o", "never.safetensors", status=3)
    require("its format is 'sdnq', which is not supported" in said, said)
    config(quant_method="gptq", bits=4.25, group_size=128)
    out, _ = run("check", "m", "--quantized", status=1)
    require('its "bits" is not a count' in out, out)
    config(quant_method="nobody", bits=4)
    out, _ = run("check", "m", "--quantized", status=1)
    require("config_unreadable" in out and "'nobody', which is not supported" in out, out)


harness.in_new_folder(lambda: os.mkdir("m"), judge_exl3, judge_others, judge_configuration)
print(DTINFO.checks, "checks")
