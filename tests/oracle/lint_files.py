# SPDX-License-Identifier: MIT
"""Small healthy checkpoints of each layout for test_lint.py, as their own programs store them (codes are packed here
by the layout descriptions), and ways to break them. A checkpoint is (tensors, config.json); tensors are {name: (dtype,
shape, bytes)}."""
import re
import struct

import numpy as np

RANDOM = np.random.default_rng(18)


def rules(files):
    """The rules in order, and the worst known effect of each, with its program and source."""
    words = dict(re.findall(r'^LINT_RULE\((\w+), +"(\w+)"', (files / "lint_rules.def").read_text(), re.MULTILINE))
    text = (files / "lint/lint_effects.def").read_text()
    known = re.findall(r'^LINT_EFFECT\((\w+), +"([^"]*)", +(\w+), +"([^"]*)", +"([^"]*)"\)$', text, re.MULTILINE)
    assert len(known) == text.count("\nLINT_EFFECT("), "a row of another form"
    order, worst = ["unknown", "none", "slow", "refuse", "misread"], {}
    for rule, loader, effect, about, source in known:
        assert {bool(loader), bool(about), bool(source)} == {effect != "UNKNOWN"}, rule
        worst[words[rule]] = max(worst.get(words[rule], "unknown"), effect.lower(), key=order.index)
    return list(words.values()), worst


def array(numbers, dtype=None):
    names = {"int8": "I8", "uint8": "U8", "int32": "I32", "uint32": "U32", "int64": "I64", "float32": "F32", "float16": "F16"}
    numbers = np.ascontiguousarray(numbers)
    return dtype or names[numbers.dtype.name], list(numbers.shape), numbers.tobytes()


def bf16(numbers):
    numbers = np.asarray(numbers, np.float32)
    return array((numbers.view(np.uint32) >> 16).astype(np.uint16).view(np.int16).view(np.uint16), "BF16")


def f32(*numbers, shape=None):
    return array(np.array(numbers, np.float32).reshape(shape or (len(numbers),)))


def stream(codes, bits):
    """Rows of codes as little-endian words without gaps, the first code lowest; the rest of the last word is 0."""
    rows, columns = codes.shape
    fields = (codes[:, :, None].astype(np.int64) >> np.arange(bits) & 1).reshape(rows, columns * bits).astype(np.uint8)
    words = -(-columns * bits // 32)
    fields = np.pad(fields, ((0, 0), (0, words * 32 - columns * bits)))
    return np.packbits(fields, axis=1, bitorder="little").view("<u4").reshape(rows, words)


def pairs(codes):
    return (codes[:, 0::2] | codes[:, 1::2] << 4).astype(np.uint8)


def plain(rows, columns):
    return bf16(RANDOM.normal(0, 0.02, (rows, columns)))


def packed(n=8, k=36, group=12, zeros=False, bits=4):
    """pack-quantized. Rows end within a word."""
    parts = {"weight_packed": array(stream(RANDOM.integers(0, 1 << bits, (n, k)), bits).view(np.int32)),
             "weight_scale": bf16(RANDOM.uniform(0.01, 0.02, (n, k // group))),
             "weight_shape": array(np.array([n, k], np.int64))}
    if zeros:
        words = stream(RANDOM.integers(0, 16, (k // group, n)), 4)
        parts["weight_zero_point"] = array(np.ascontiguousarray(words.T).view(np.int32))
    return parts


def nvfp4(scale, n=8, k=32, packed_name="weight_packed", scale_name="weight_global_scale"):
    return {packed_name: array(pairs(RANDOM.integers(0, 16, (n, k)))),
            "weight_scale": array(RANDOM.integers(0x50, 0x78, (n, k // 16)).astype(np.uint8), "F8_E4M3"),
            scale_name: f32(scale, shape=(1,) if packed_name == "weight_packed" else ())}


def fp8(n=8, k=16, scale=None, name="weight_scale"):
    codes = RANDOM.integers(0, 0x7f, (n, k)) | RANDOM.integers(0, 2, (n, k)) << 7
    return {"weight": array(codes.astype(np.uint8), "F8_E4M3"),
            name: array(np.full((n, 1), 0.0001, np.float32)) if scale is None else scale}


def model(modules, config, head="lm_head"):
    """Modules by name in one layer, plus the other tensors of a model."""
    tensors = {"model.embed_tokens.weight": plain(16, 8), "model.norm.weight": bf16(np.ones(8))}
    if head:
        tensors[head + ".weight"] = plain(16, 8)
    for module, parts in modules.items():
        tensors.update({"model.layers.0.%s.%s" % (module, part): value for part, value in parts.items()})
    tensors["model.layers.0.self_attn.q_proj.bias"] = bf16(np.zeros(8))    # not a quantized module
    return tensors, config


def quantization(**block):
    return {"dtype": "bfloat16", "tie_word_embeddings": False, "quantization_config": block}


def compressed(form, *groups, ignore=("lm_head",)):
    return quantization(quant_method="compressed-tensors", format=form, ignore=list(ignore), config_groups={
        "group_%d" % i: {"targets": list(targets), "weights": weights} for i, (targets, weights) in enumerate(groups)})


INT4 = {"num_bits": 4, "type": "int", "symmetric": True, "strategy": "group", "group_size": 12}
FP4 = {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16}
LINEARS = ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj"]


def gptq(n=16, k=64, group=16, zero=7, order=True):
    parts = {"qweight": array(np.ascontiguousarray(stream(RANDOM.integers(0, 16, (n, k)), 4).T).view(np.int32)),
             "qzeros": array(stream(np.full((k // group, n), zero), 4).view(np.int32)),
             "scales": array(RANDOM.uniform(0.01, 0.02, (k // group, n)).astype(np.float16))}
    if order:
        parts["g_idx"] = array((np.arange(k) // group).astype(np.int32))
    return parts


def awq(n=16, k=64, group=16):
    lanes = np.array([0, 2, 4, 6, 1, 3, 5, 7])
    codes = RANDOM.integers(0, 16, (k, n)).reshape(k, n // 8, 8)[:, :, lanes].reshape(k, n)
    zeros = RANDOM.integers(0, 16, (k // group, n))
    return {"qweight": array(stream(codes, 4).view(np.int32)), "qzeros": array(stream(zeros, 4).view(np.int32)),
            "scales": array(RANDOM.uniform(0.01, 0.02, (k // group, n)).astype(np.float16))}


def mlx(n=8, k=64, group=32):
    return {"weight": array(stream(RANDOM.integers(0, 16, (n, k)), 4)),
            "scales": bf16(RANDOM.uniform(-0.02, 0.02, (n, k // group))),    # of both signs
            "biases": bf16(RANDOM.uniform(-0.02, 0.02, (n, k // group)))}


def checkpoints():
    """All of them by name."""
    made = {
        "pack-quantized": model({name: packed() for name in LINEARS}, compressed("pack-quantized", (["Linear"], INT4))),
        "asymmetric": model({name: packed(zeros=True) for name in LINEARS},
                            compressed("pack-quantized", (["Linear"], dict(INT4, symmetric=False)))),
        "packed int8": model({name: packed(k=34, group=17, bits=8) for name in LINEARS},
                             compressed("pack-quantized", (["Linear"], dict(INT4, num_bits=8, group_size=17)))),
        "two groups": model(dict({name: packed() for name in LINEARS[:3]}, **{name: packed(k=48, group=16) for name in LINEARS[3:]}),
                            compressed("pack-quantized", (["re:.*self_attn.*"], INT4), (["re:.*mlp.*"], dict(INT4, group_size=16)))),
        "integers": model({"self_attn.q_proj": {
            "weight": array(RANDOM.integers(-128, 128, (8, 16)).astype(np.int8)), "weight_scale": array(np.full((8, 1), 0.001, np.float32)),
            "weight_zero_point": array(np.zeros((8, 1), np.int32))}},
            compressed("int-quantized", (["Linear"], {"num_bits": 8, "strategy": "channel", "symmetric": False}))),
        "fp8": model({name: fp8() for name in LINEARS}, compressed("float-quantized", (["Linear"], {
            "num_bits": 8, "type": "float", "strategy": "channel"}))),
        "fp8 of one scale": model({name: dict(fp8(scale=f32(0.0001)), input_scale=f32(0.5)) for name in LINEARS},
                                  compressed("float-quantized", (["Linear"], {"num_bits": 8, "type": "float", "strategy": "tensor"}))),
        "fp8 blocks": model({"mlp.up_proj": fp8(200, 130, array(np.full((2, 2), 0.0001, np.float32)), "weight_scale_inv")},
                            quantization(quant_method="fp8", activation_scheme="dynamic", weight_block_size=[128, 128])),
        "nvfp4": model({name: nvfp4(27000.0) for name in LINEARS}, compressed("nvfp4-pack-quantized", (["Linear"], FP4))),
        "nvfp4 of ModelOpt": model(
            {name: dict(nvfp4(1 / 27000, packed_name="weight", scale_name="weight_scale_2"), input_scale=f32(0.01, shape=())) for name in LINEARS},
            quantization(quant_method="modelopt", quant_algo="NVFP4", group_size=16, ignore=["lm_head"])),
        "mxfp4": model({"mlp.up_proj": {"weight_packed": array(pairs(RANDOM.integers(0, 16, (8, 64)))),
                                        "weight_scale": array(RANDOM.integers(115, 125, (8, 2)).astype(np.uint8))}},
                       compressed("mxfp4-pack-quantized", (["Linear"], dict(FP4, strategy="group", group_size=32)))),
        "gpt-oss": model({"mlp.experts": {"down_proj_blocks": array(RANDOM.integers(0, 256, (2, 4, 2, 16)).astype(np.uint8)),
                                          "down_proj_scales": array(RANDOM.integers(115, 125, (2, 4, 2)).astype(np.uint8))}},
                         quantization(quant_method="mxfp4", modules_to_not_convert=["model.layers.*.self_attn", "model.embed_tokens", "lm_head"])),
        "gptq": model({name: gptq() for name in LINEARS}, quantization(
            quant_method="gptq", bits=4, group_size=16, desc_act=False, sym=True, dynamic={r"-:.*lm_head": {}})),
        "gptq_v2": model({name: gptq(zero=8) for name in LINEARS}, quantization(
            quant_method="gptq", checkpoint_format="gptq_v2", bits=4, group_size=16, desc_act=False, sym=True)),
        "gptq of a part of a word": model({"mlp.up_proj": gptq(k=60, group=20)}, quantization(
            quant_method="gptq", bits=4, group_size=20, desc_act=False, sym=True)),
        "awq": model({name: awq() for name in LINEARS}, quantization(
            quant_method="awq", bits=4, group_size=16, zero_point=True, version="gemm", modules_to_not_convert=["lm_head"])),
        "mlx": model({name: mlx() for name in LINEARS}, {"quantization": {
            "group_size": 32, "bits": 4, "mode": "affine", "model.layers.0.mlp.up_proj": {"group_size": 32, "bits": 4}}}),
    }
    made["fp8 of powers of two"] = {
        "layers.0.attn.wq_a.weight": fp8(200, 130)["weight"], "layers.0.attn.wq_a.scale": array(np.full((2, 2), 118, np.uint8), "F8_E8M0"),
        "layers.0.ffn.experts.0.w1.weight": array(RANDOM.integers(-128, 128, (8, 32)).astype(np.int8)),
        "layers.0.ffn.experts.0.w1.scale": array(np.full((8, 2), 118, np.uint8), "F8_E8M0"), "norm.weight": bf16(np.ones(8)),
    }, dict(quantization(quant_method="fp8", activation_scheme="dynamic", weight_block_size=[128, 128], scale_fmt="ue8m0"), expert_dtype="fp4")
    tensors, config = model({name: packed() for name in LINEARS}, compressed("pack-quantized", (["Linear"], INT4)), head=None)
    made["tied embeddings"] = tensors, dict(config, tie_word_embeddings=True)
    return made


# Ways to break it: functions that modify tensors and configuration.

def put(name, at, value, kind):
    """Sets element `at` of a tensor in its bytes."""
    def change(tensors, _):
        dtype, shape, raw = tensors[name]
        raw = bytearray(raw)
        struct.pack_into("<" + kind, raw, at * struct.calcsize(kind), value)
        tensors[name] = dtype, shape, bytes(raw)
    return change


def put_tensor(name, value):
    def change(tensors, _):
        tensors[name] = value
    return change


def drop(*names):
    def change(tensors, _):
        for name in names:
            del tensors[name]
    return change


def say(**members):
    def change(_, config):
        config["quantization_config"].update(members)
    return change


def all_of(*changes):
    def change(tensors, config):
        for one in changes:
            one(tensors, config)
    return change


def rename(old, new):
    def change(tensors, _):
        for name in [name for name in tensors if name.startswith(old)]:
            tensors[new + name[len(old):]] = tensors.pop(name)
    return change


def group(index, **members):
    def change(_, config):
        target = config["quantization_config"]["config_groups"]["group_%d" % index]
        target["weights"].update({k: v for k, v in members.items() if k != "targets"})
        target.update({k: v for k, v in members.items() if k == "targets"})
    return change
