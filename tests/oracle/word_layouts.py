# SPDX-License-Identifier: MIT
"""Random matrices of grouped integers, as GPTQ, AWQ, compressed-tensors, MLX, Quark and ModelOpt store them."""
import numpy as np
import torch

RANDOM = np.random.default_rng(20261123)
ORDER = [0, 2, 4, 6, 1, 3, 5, 7]    # column order in an AWQ word
HALF, BRAIN, FLOAT = torch.float16, torch.bfloat16, torch.float32


class Matrix:
    """[N, K]: codes and zero points from 0 to 2^bits - 1, one scale per `length` neighbours in a row."""

    def __init__(self, rows, columns, bits, length, dtype=HALF, zeros="any", scales="any", act=False, negative=False):
        self.rows, self.columns, self.bits, self.length, self.dtype = rows, columns, bits, length, dtype
        self.count, self.middle = -(-columns // length), 2 ** (bits - 1)
        self.codes = RANDOM.integers(0, 2 ** bits, (rows, columns))
        shape = (rows, self.count)
        self.zeros = {"any": lambda: RANDOM.integers(0, 2 ** bits, shape),
                      "above": lambda: RANDOM.integers(1, 2 ** bits, shape),
                      "middle": lambda: np.full(shape, self.middle)}[zeros]()
        number = RANDOM.standard_normal(shape) if negative else RANDOM.random(shape) + 0.01
        if scales == "short":       # few digits: no product rounds in MLX
            top = 2 if bits == 8 and dtype == BRAIN else 4
            number = np.ldexp(RANDOM.integers(1, top, shape), RANDOM.integers(-6, -2, shape)).astype(float)
        self.scales = torch.from_numpy(number * (1 if scales == "short" else 0.01)).to(dtype)
        self.groups = np.arange(columns) // length
        if act:
            self.groups = RANDOM.integers(0, self.count, columns)
            self.groups[0] = self.count - 1
        self.act = bool((self.groups != np.arange(columns) // length).any())

    def numbers(self):
        """fp32: exact products, rounded once."""
        whole = torch.from_numpy((self.codes - self.zeros[:, self.groups]).astype(np.float64))
        return (whole * self.scales.double()[:, torch.from_numpy(self.groups)]).float()


def words_along(fields, bits):
    """Each row of fields as a bit stream, the lowest first, padded to whole words."""
    rows, count = fields.shape
    stream = ((fields[:, :, None] >> np.arange(bits)) & 1).reshape(rows, count * bits).astype(np.uint8)
    stream = np.pad(stream, ((0, 0), (0, -count * bits % 32)))
    return np.packbits(stream, axis=1, bitorder="little").view("<i4").reshape(rows, stream.shape[1] // 32)


def whole(array):
    return torch.from_numpy(np.ascontiguousarray(array))


# Each returns tensors and quantization_config, or None if the layout cannot hold the matrix.
def as_gptq(m, offset=1):
    tensors = {"qweight": whole(words_along(m.codes, m.bits).T),
               "qzeros": whole(words_along((m.zeros.T - offset) % 2 ** m.bits, m.bits)),
               "scales": m.scales.T.contiguous(), "g_idx": whole(m.groups.astype(np.int32))}
    return {"a." + name: part for name, part in tensors.items()}, {
        "quant_method": "gptq", "bits": m.bits, "group_size": -1 if m.length >= m.columns else m.length,
        "desc_act": m.act, "checkpoint_format": "gptq" if offset else "gptq_v2"}


def as_gptq_v2(m):
    return as_gptq(m, 0)


def lanes(fields):
    rows, columns = fields.shape
    return words_along(fields.reshape(rows, columns // 8, 8)[:, :, ORDER].reshape(rows, columns), 4)


def as_awq(m):
    tensors = {"qweight": whole(lanes(m.codes.T)), "qzeros": whole(lanes(m.zeros.T)), "scales": m.scales.T.contiguous()}
    return {"a." + name: part for name, part in tensors.items()}, {
        "quant_method": "awq", "bits": 4, "group_size": -1 if m.length >= m.columns else m.length, "zero_point": True,
        "version": "gemm"}


def compressed_args(m, bits=None):
    return {"num_bits": bits or m.bits, "type": "int", "symmetric": bool((m.zeros == m.middle).all()),
            "strategy": "group" if m.length < m.columns else "channel",
            "group_size": m.length if m.length < m.columns else None}


def compressed_config(m, form):
    return {"quant_method": "compressed-tensors", "format": form, "config_groups": {
        "group_0": {"targets": ["Linear"], "weights": compressed_args(m)}}}


def as_packed(m):
    tensors = {"a.weight_packed": whole(words_along(m.codes, m.bits)), "a.weight_scale": m.scales,
               "a.weight_shape": torch.tensor([m.rows, m.columns])}
    if (m.zeros != m.middle).any():
        tensors["a.weight_zero_point"] = whole(words_along(m.zeros.T, m.bits).T)
    return tensors, compressed_config(m, "pack-quantized")


def as_int8(m):
    tensors = {"a.weight": whole((m.codes - 128).astype(np.int8)), "a.weight_scale": m.scales}
    if (m.zeros != m.middle).any():
        tensors["a.weight_zero_point"] = whole((m.zeros - 128).astype(np.int8))
    return tensors, compressed_config(m, "int-quantized")


def as_mlx(m):
    """Exact only if the biases are."""
    biases = (torch.from_numpy(-m.zeros.astype(np.float64)) * m.scales.double()).to(m.dtype)
    return {"a.weight": whole(words_along(m.codes, m.bits).view("<u4")), "a.scales": m.scales, "a.biases": biases}, {
        "group_size": m.length, "bits": m.bits, "mode": "affine"}


def quark(m, dtype, order):
    signed = dtype == "int4"
    codes = (m.codes - 8) % 16 if signed else m.codes
    pack = lanes if order == "reorder" else lambda fields: words_along(fields, 4)
    tensors = {"a.weight": whole(pack(codes.T)), "a.weight_scale": m.scales.T.contiguous()}
    if not signed:
        tensors["a.weight_zero_point"] = whole(pack(m.zeros.T))
    return tensors, {"quant_method": "quark", "global_quant_config": {"weight": {
        "dtype": dtype, "qscheme": "per_group", "group_size": m.length, "ch_axis": 1}}, "layer_quant_config": {},
        "export": {"kv_cache_group": [], "pack_method": order}, "exclude": []}


def as_pairs(m):
    """ModelOpt W4A16_AWQ."""
    fields = (m.codes - 8) % 16
    return {"a.weight": whole((fields[0::2] | fields[1::2] << 4).astype(np.uint8)), "a.weight_scale": m.scales}, {
        "quant_method": "modelopt", "quant_algo": "W4A16_AWQ", "group_size": m.length}
