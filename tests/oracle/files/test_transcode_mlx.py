#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`dtinfo transcode --to mlx` of blocks: mxfp4, mxfp8 and nvfp4 of compressed-tensors and ModelOpt, as well as mxfp4 that
becomes nvfp4. Codes and scales are compared byte by byte; numbers with a model of both formulas, and with
mx.dequantize() if MLX is installed. Counts of blocks that stay the same are computed here. mlx-lm, if installed, loads a
tiny llama.

usage: test_transcode_mlx.py DTINFO
"""
import json
import os
import tempfile

from transcode_check import F32, RANDOM, TALLY, equal, mx, np, nvfp4, pairs, run, shards, transcode, write
from harness import have
from layout_files import E2M1, E4M3

core = have("mlx.core") and __import__("mlx.core").core


def save(tensors, config={"model_type": "llama"}):
    """The folder "in"."""
    write("in/model.safetensors", tensors)
    with open("in/config.json", "w") as file:
        json.dump(config, file)


def words(parts, stem):
    """The codes of one byte or half a byte, from words."""
    return parts[stem + ".weight"].view(np.uint8)


def config():
    with open("out/config.json") as file:
        said = json.load(file)
    TALLY.check("both members", said["quantization"], said["quantization_config"])
    return said["quantization"]


def by_mlx(what, parts, stem, mode, want):
    """MLX's own numbers."""
    if not core:
        return
    scale = parts.get(stem + ".global_scale")
    more = {} if scale is None else {"global_scale": core.array(scale.reshape(-1)[0])}
    codes, scales = core.array(parts[stem + ".weight"]), core.array(parts[stem + ".scales"])
    equal(what + ": MLX", np.array(core.dequantize(codes, scales, mode=mode, dtype=core.float32, **more)), want)


def mx_blocks():
    """Powers of two: nothing changes. The scale 255 is NaN to MX, and 0 is 2^-127."""
    for shape in ((1, 32), (3, 64), (64, 256), (4, 8, 96)):
        scales = RANDOM.integers(100, 140, (*shape[:-1], shape[-1] // 32)).astype(np.uint8)
        four = RANDOM.integers(0, 256, (*shape[:-1], shape[-1] // 2)).astype(np.uint8)
        eight = RANDOM.integers(0, 256, shape).astype(np.uint8)
        eight[eight & 0x7f == 0x7f] = 0
        for source, packed in (("compressed-tensors", "_packed"), ("modelopt", "")):
            save({"a.weight" + packed: ("U8", four), "a.weight_scale": ("U8", scales),
                                       "b.weight": ("F8_E4M3", eight), "b.weight_scale": ("U8", scales)})
            said = transcode("in", "mlx", "out")
            out = shards("out")
            TALLY.check("mx: lossless", [said[n + ".weight"]["lossless"] for n in "ab"], [True, True])
            TALLY.check("mx: parts", sorted(out), ["a.scales", "a.weight", "b.scales", "b.weight"])
            TALLY.check("mx: codes", (words(out, "a").tobytes(), words(out, "b").tobytes()), (four.tobytes(), eight.tobytes()))
            TALLY.check("mx: shapes", (out["a.weight"].shape, out["b.weight"].shape, out["a.scales"].shape),
                        ((*shape[:-1], shape[-1] // 8), (*shape[:-1], shape[-1] // 4), scales.shape))
            TALLY.check("mx: scales", (out["a.scales"].tobytes(), out["b.scales"].tobytes()), (scales.tobytes(),) * 2)
            TALLY.check("mx: config", config(), {"group_size": 32, "bits": 4, "mode": "mxfp4", "b": {
                "group_size": 32, "bits": 8, "mode": "mxfp8"}})
            by_mlx("mxfp4", out, "a", "mxfp4", mx(E2M1[pairs(four)], scales))
            by_mlx("mxfp8", out, "b", "mxfp8", mx(E4M3[eight], scales))
            for layout in ("compressed-tensors", "modelopt"):
                transcode("out", layout, "back")
                back = shards("back")
                TALLY.check("mx: back to " + layout, back["b.weight"].tobytes() + back["b.weight_scale"].tobytes() +
                            back["a.weight" + ("" if layout == "modelopt" else "_packed")].tobytes(),
                            eight.tobytes() + scales.tobytes() + four.tobytes())
    TALLY.part("mxfp4 and mxfp8")


def changed_blocks(before, after, length=16):
    """How many blocks have other numbers."""
    before, after = (np.ascontiguousarray(a, F32).view(np.uint32).reshape(-1, length) for a in (before, after))
    return int((before != after).any(1).sum())


def nv_blocks():
    """The tensor scale becomes 2688 times itself, rounded once. A block is counted as changed if any number that its scale
    allows changes, so all codes are in each block here."""
    same = other = 0
    for source in ("modelopt", "compressed-tensors"):
        for trial in range(60):
            shape = (6, 64) if trial % 3 else (3, 2, 64)
            block = np.concatenate([np.arange(16)] * (int(np.prod(shape)) // 16)).astype(np.uint8).reshape(shape)
            codes = block[..., 0::2] | block[..., 1::2] << 4
            scales = RANDOM.integers(0, 0x7f, (*shape[:-1], 4)).astype(np.uint8)
            tensor = F32(1) if trial == 0 else F32(2.0) ** (trial - 8) if trial < 8 else F32(RANDOM.uniform(1e-6, 1e3))
            parts = {"a.weight" if source == "modelopt" else "a.weight_packed": ("U8", codes),
                     "a.weight_scale": ("F8_E4M3", scales)}
            parts["a.weight_scale_2" if source == "modelopt" else "a.weight_global_scale"] = (
                "F32", tensor.reshape(()) if source == "modelopt" else tensor.reshape(1))
            save(parts)
            given = {name: array for name, (_, array) in parts.items()}
            want = nvfp4(given, "a.weight", source)
            said = transcode("in", "mlx", "out")["a.weight"]
            out = shards("out")
            TALLY.check("nvfp4: codes and scales", (words(out, "a").tobytes(), out["a.scales"].tobytes()),
                        (codes.tobytes(), scales.tobytes()))
            exact = float(tensor) * 2688 if source == "modelopt" else 2688 / float(tensor)
            if tensor == 1:
                TALLY.check("nvfp4: no scale of 1", "a.global_scale" in out, False)
                factor = F32(1)
            else:
                largest = out["a.global_scale"]
                TALLY.check("nvfp4: global_scale", (largest.reshape(-1).tolist(), largest.shape),
                            ([F32(exact)] * largest.size, shape[:-2]))
                factor = largest.reshape(-1)[0] / F32(2688)
            got = np.repeat(E4M3[scales] * factor, 16, -1) * E2M1[pairs(codes)]
            by_mlx("nvfp4", out, "a", "nvfp4", got)
            lost = changed_blocks(want, got)
            TALLY.check("nvfp4: lossless blocks", (said["lossless_blocks"], said["blocks"]),
                        (want.size // 16 - lost, want.size // 16))
            with np.errstate(all="ignore"):
                errors = np.abs(got.astype(float) - want) / np.abs(want)
            TALLY.check("nvfp4: worst error", said["worst_error"] or 0, float(np.nanmax(np.where(want == 0, 0, errors))))
            same, other = same + (lost == 0), other + (lost > 0)
            run("transcode", "in", "--to", "mlx", "-o", "kept", "--require-lossless", "--force", code=1 if lost else 0)
            run("compare", "in", "out", "--rtol", "3e-7", "-q")
            TALLY.check("nvfp4: config", config(), {"group_size": 16, "bits": 4, "mode": "nvfp4"})
    TALLY.check("nvfp4: both outcomes were seen", same > 9 and other > 9, True)
    TALLY.part("nvfp4: %d tensors the same, %d not" % (same, other))


def mx_to_nv():
    """No tensor scale if 18 powers of two around 1 suffice."""
    for low, high, scaled in ((118, 135, False), (118, 136, True), (100, 117, True), (127, 127, False)):
        scales = RANDOM.integers(low, high + 1, (8, 4)).astype(np.uint8)
        scales[0, :2] = low, high
        codes = RANDOM.integers(0, 256, (8, 64)).astype(np.uint8)
        save({"a.weight_packed": ("U8", codes), "a.weight_scale": ("U8", scales)})
        said = transcode("in", "mlx", "out", "--mode", "nvfp4")["a.weight"]
        out = shards("out")
        factor = out["a.global_scale"] / F32(2688) if "a.global_scale" in out else F32(1)
        got = np.repeat(E4M3[out["a.scales"]] * factor, 16, -1) * E2M1[pairs(words(out, "a"))]
        want = mx(E2M1[pairs(codes)], scales)
        TALLY.check("mxfp4 to nvfp4: scale", "a.global_scale" in out, scaled)
        if high - low < 18:
            TALLY.check("mxfp4 to nvfp4: lossless", said["lossless"], True)
            equal("mxfp4 to nvfp4", got, want)
        by_mlx("mxfp4 to nvfp4", out, "a", "nvfp4", got)
    TALLY.part("mxfp4 to nvfp4")


def refused():
    block = {"a.weight": ("F8_E4M3", np.zeros((4, 64), np.uint8)), "a.weight_scale": ("U8", np.zeros((4, 2), np.uint8))}
    save(block)
    for mode in ("affine", "mxfp4", "nvfp4"):
        said = run("transcode", "in", "--to", "mlx", "--mode", mode, "-o", "no", code=2)
        TALLY.check("mode " + mode, "a.weight" in said and "mxfp8" in said and mode in said, True)
    run("transcode", "in", "--to", "modelopt", "--mode", "mxfp8", "-o", "no", code=2)
    save({**{n: p for n, p in block.items() if n != "a.weight_scale"}, "a.weight_scale": (
        "F32", np.ones((), F32))})
    TALLY.check("fp8", "mxfp4, mxfp8, nvfp4" in run("transcode", "in", "--to", "mlx", "-o", "no", code=2), True)
    parts = {"a.weight": ("U8", np.zeros((4, 8), np.uint8)), "a.weight_scale": ("F8_E4M3", np.full((4, 1), 56, np.uint8)),
             "a.weight_scale_2": ("F32", F32(3).reshape(())), "a.input_scale": ("F32", F32(2).reshape(()))}
    save(parts)
    transcode("in", "mlx", "out")
    TALLY.check("scales of activations", sorted(shards("out")), ["a.global_scale", "a.scales", "a.weight"])
    TALLY.check("no such file", os.path.exists("no"), False)
    stack = {"a.weight": ("U32", np.zeros((2, 3, 8), np.uint32)), "a.scales": ("U8", np.full((2, 3, 4), 56, np.uint8))}
    for values, code in (((5.0, 5.0), 0), ((5.0, 6.0), 3), ((-5.0, -5.0), 3), ((5.0, 5.0, 5.0), 3)):
        save({**stack, "a.global_scale": ("F32", np.array(values, F32))})
        run("inspect", "in", "--stats", code=code)
    TALLY.part("refusals")


LLAMA = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "intermediate_size": 128, "num_attention_heads": 4,
         "num_key_value_heads": 2, "rms_norm_eps": 1e-5, "vocab_size": 96, "tie_word_embeddings": False}
MATRICES = {"self_attn.q_proj": (64, 64), "self_attn.k_proj": (32, 64), "self_attn.v_proj": (32, 64),
            "self_attn.o_proj": (64, 64), "mlp.gate_proj": (128, 64), "mlp.up_proj": (128, 64), "mlp.down_proj": (64, 128)}


def by_mlx_lm():
    """A tiny llama, with a layer's matrices in all modes, is loaded by mlx-lm, strictly, and computes what one with the
    dequantized matrices does."""
    if not core or not have("mlx_lm"):
        TALLY.skip("mlx-lm is not installed")
        return
    from mlx_lm.utils import load_model
    from pathlib import Path
    parts, floats = {}, {}
    for name, shape in {"model.embed_tokens": (96, 64), "lm_head": (96, 64)}.items():
        floats[name + ".weight"] = parts[name + ".weight"] = ("F32", RANDOM.normal(size=shape).astype(F32))
    for name in ("model.norm", "model.layers.0.input_layernorm", "model.layers.0.post_attention_layernorm"):
        floats[name + ".weight"] = parts[name + ".weight"] = ("F32", np.ones(64, F32))
    for i, (name, (rows, columns)) in enumerate(MATRICES.items()):
        stem = "model.layers.0.%s.weight" % name
        codes = RANDOM.integers(0, 256, (rows, columns // 2)).astype(np.uint8)
        if i % 3 == 0:
            parts[stem] = ("F8_E4M3", RANDOM.integers(0, 0x70, (rows, columns)).astype(np.uint8))
            parts[stem + "_scale"] = ("U8", RANDOM.integers(115, 118, (rows, columns // 32)).astype(np.uint8))
            numbers = mx(E4M3[parts[stem][1]], parts[stem + "_scale"][1])
        elif i % 3 == 1:
            parts[stem + "_packed"] = ("U8", codes)
            parts[stem + "_scale"] = ("U8", RANDOM.integers(120, 125, (rows, columns // 32)).astype(np.uint8))
            numbers = mx(E2M1[pairs(codes)], parts[stem + "_scale"][1])
        else:
            parts[stem + "_packed"] = ("U8", codes)
            parts[stem + "_scale"] = ("F8_E4M3", RANDOM.integers(16, 40, (rows, columns // 16)).astype(np.uint8))
            parts[stem + "_global_scale"] = ("F32", np.ones(1, F32))
            numbers = np.repeat(E4M3[parts[stem + "_scale"][1]], 16, -1) * E2M1[pairs(codes)]
        floats[stem] = ("F32", numbers.astype(F32))
    answers = []
    for tensors in (parts, floats):
        save(tensors, LLAMA)
        folder = "in"
        if tensors is parts:
            said = transcode("in", "mlx", "out")
            TALLY.check("mlx-lm: lossless", all(t["lossless"] for t in said.values()), True)
            folder = "out"
        model, _ = load_model(Path(folder), strict=True)
        answers.append(np.array(model(core.array([[1, 5, 17, 60]])).astype(core.float32)))
    TALLY.check("mlx-lm: the same answers", bool(np.allclose(*answers, rtol=2e-2, atol=2e-2 * np.abs(answers[1]).max())), True)
    TALLY.part("mlx-lm")


def main():
    with tempfile.TemporaryDirectory(prefix="dtinfo-transcode-mlx-") as folder:
        os.chdir(folder)
        mx_blocks()
        nv_blocks()
        mx_to_nv()
        refused()
        by_mlx_lm()
        os.chdir("/")
    TALLY.finish()


main()
