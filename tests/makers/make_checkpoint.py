#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes small checkpoints that resemble real ones, byte for byte the same on every machine (except for zlib's output
in deflated.npz).

    make_checkpoint.py FOLDER                 two shards, their index, names as Hugging Face has them
    make_checkpoint.py FOLDER --single        the same tensors in model.safetensors
    make_checkpoint.py FOLDER --others        weights.npy, arrays.npz, deflated.npz, model.gguf
    make_checkpoint.py FOLDER --unknown       the same, with a type in model.gguf that ggml does not have
    make_checkpoint.py FOLDER --dduf          model.dduf, the folder of a diffusion model
    make_checkpoint.py FOLDER --hostile       files whose names are an attack on the terminal

Uses only the standard library: other packages (safetensors, numpy, gguf) judge the files. The functions below serve
tests that need custom files.
"""
import argparse
import io
import json
import math
import pathlib
import struct
import zipfile

MASK = (1 << 64) - 1
SIZES = {"BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1, "I16": 2, "U16": 2, "F16": 2,
         "BF16": 2, "I32": 4, "U32": 4, "F32": 4, "I64": 8, "U64": 8, "F64": 8}
LETTERS = {"F16": "e", "F32": "f", "F64": "d", "I8": "b", "U8": "B", "I16": "h", "U16": "H",
           "I32": "i", "U32": "I", "I64": "q", "U64": "Q", "BOOL": "?"}
HIDDEN, INNER, VOCABULARY, POSITIONS = 32, 88, 128, 64

# Names that attack whatever prints them. The last one is not UTF-8: only formats with byte names can hold it.
HOSTILE = ["esc\x1b[2J\x1b[31mred", "osc\x1b]0;title\x07", "clip\x1b]52;c;aGk=\x07", "line\nbreak",
           "return\rover", "tab\there", "rtl\u202egpj.exe", "c1\u009b2J", "nul\x00end",
           "quote\"back\\slash", "../../etc/passwd", " ", "\u0000", "wide\u4e2d\u6587", "emoji\U0001f600",
           "zero\u200bwidth", "comma,star*?[x]", "x" * 300]
HOSTILE_BYTES = [name.encode() for name in HOSTILE] + [b"bad\xff\xfeutf8\xc0\x80\xed\xa0\x80"]


def splitmix(seed):
    """A generator of 64-bit random numbers (Steele, Lea, Flood 2014)."""
    while True:
        seed = seed + 0x9E3779B97F4A7C15 & MASK
        bits = seed
        bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 & MASK
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & MASK
        yield bits ^ bits >> 31


def normals(count, seed=0, scale=0.02):
    """Approximately normally distributed numbers: sums of four uniform ones."""
    source = splitmix(seed)
    unit = scale * math.sqrt(3) / 65536
    values = []
    for _ in range(count):
        bits = next(source)
        total = (bits & 65535) + (bits >> 16 & 65535) + (bits >> 32 & 65535) + (bits >> 48)
        values.append((total - 131070) * unit)
    return values


def bf16(value):
    """The bf16 code of the fp32 nearest to value, rounded to nearest, ties to even."""
    code = struct.unpack("<I", struct.pack("<f", value))[0]
    if value != value:
        return code >> 16 | 0x40
    return code + 0x7FFF + (code >> 16 & 1) >> 16


def pack(dtype, values):
    """Little-endian codes of a safetensors dtype; for 8-bit floats the values are the codes."""
    values = list(values)
    if dtype == "BF16":
        return struct.pack("<%dH" % len(values), *map(bf16, values))
    return struct.pack("<%d%s" % (len(values), LETTERS.get(dtype, "B")), *values)


def tensor(name, dtype, shape, values):
    """The tuple that the writers below take: (name, dtype, shape, bytes)."""
    return name, dtype, list(shape), pack(dtype, values)


def safetensors(tensors, metadata=None):
    """The bytes of a file with these tensors in this order; the header is padded to a multiple of 8."""
    header, offset = {}, 0
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, dtype, shape, data in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(data for *_, data in tensors)


def npy(descr, shape, data, fortran=False, version=1):
    """The bytes of a .npy file; data is already in the order and byte order given by descr and fortran."""
    text = "{'descr': %r, 'fortran_order': %r, 'shape': %r, }" % (descr, bool(fortran), tuple(shape))
    length = struct.Struct("<H" if version == 1 else "<I")
    text += " " * (-(8 + length.size + len(text) + 1) % 64) + "\n"
    raw = text.encode("latin-1" if version < 3 else "utf-8")
    return b"\x93NUMPY" + bytes([version, 0]) + length.pack(len(raw)) + raw + data


def npz(members, deflated=False):
    """The bytes of a .npz file; members maps names without .npy (str or bytes) to their bytes."""
    method = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
    out, stand_ins = io.BytesIO(), {}
    with zipfile.ZipFile(out, "w", method) as archive:
        for number, (name, data) in enumerate(members.items()):
            raw = name if isinstance(name, bytes) else name.encode()
            # zipfile truncates names at NUL and requires text: a placeholder of the same length is written and
            # replaced afterwards
            stand_in = ("@%06d" % number).ljust(len(raw) + 4, "_")
            if len(raw) + 4 > len("@%06d" % number):
                stand_ins[stand_in] = raw + b".npy"
            else:
                stand_in = raw.decode() + ".npy"
            info = zipfile.ZipInfo(stand_in, (1980, 1, 1, 0, 0, 0))
            info.compress_type = method
            archive.writestr(info, data)
    whole = out.getvalue()
    for stand_in, raw in stand_ins.items():
        whole = whole.replace(stand_in.encode(), raw)
    return whole


GGUF_TYPES = {"uint8": (0, "B"), "int8": (1, "b"), "uint16": (2, "H"), "int16": (3, "h"),
              "uint32": (4, "I"), "int32": (5, "i"), "float32": (6, "f"), "bool": (7, "?"),
              "uint64": (10, "Q"), "int64": (11, "q"), "float64": (12, "d")}
# name: (id, elements per block, bytes per block)
GGML_TYPES = {"F32": (0, 1, 4), "F16": (1, 1, 2), "Q4_0": (2, 32, 18), "Q8_0": (8, 32, 34),
              "Q4_K": (12, 256, 144), "I8": (24, 1, 1), "I16": (25, 1, 2), "I32": (26, 1, 4),
              "I64": (27, 1, 8), "F64": (28, 1, 8), "BF16": (30, 1, 2), "MXFP4": (39, 32, 17)}


def gguf_text(text, order):
    raw = text if isinstance(text, bytes) else text.encode()
    return struct.pack(order + "Q", len(raw)) + raw


def gguf_value(kind, value, order):
    """A value after its type id; kind is a name above, "string", or ("array", kind)."""
    if kind == "string":
        return struct.pack(order + "I", 8) + gguf_text(value, order)
    if isinstance(kind, tuple):
        items = b"".join(gguf_value(kind[1], item, order)[4:] for item in value)
        number = 8 if kind[1] == "string" else GGUF_TYPES[kind[1]][0]
        return struct.pack(order + "IIQ", 9, number, len(value)) + items
    number, letter = GGUF_TYPES[kind]
    return struct.pack(order + "I" + letter, number, value)


def gguf(metadata, tensors, version=3, alignment=32, order="<"):
    """The bytes of a GGUF file. metadata: (key, kind, value); tensors: (name, ggml type or id, shape with the slowest
    dimension first, bytes in file order)."""
    head = b"GGUF" + struct.pack(order + "IQQ", version, len(tensors), len(metadata))
    for key, kind, value in metadata:
        head += gguf_text(key, order) + gguf_value(kind, value, order)
    offset, body = 0, b""
    for name, kind, shape, data in tensors:
        number = kind if isinstance(kind, int) else GGML_TYPES[kind][0]
        head += gguf_text(name, order) + struct.pack(order + "I", len(shape))
        head += struct.pack("%s%dQ" % (order, len(shape)), *reversed(shape))
        head += struct.pack(order + "IQ", number, offset)
        padded = data + bytes(-len(data) % alignment)
        body, offset = body + padded, offset + len(padded)
    return head + bytes(-len(head) % alignment) + body


def model(layers=2):
    """The tensors of a small decoder: weights in fp32, embeddings in bf16, positions in int64."""
    shapes = {"self_attn.q_proj": (HIDDEN, HIDDEN), "self_attn.k_proj": (HIDDEN // 2, HIDDEN),
              "self_attn.v_proj": (HIDDEN // 2, HIDDEN), "self_attn.o_proj": (HIDDEN, HIDDEN),
              "mlp.gate_proj": (INNER, HIDDEN), "mlp.up_proj": (INNER, HIDDEN),
              "mlp.down_proj": (HIDDEN, INNER)}
    tensors, seed = [], 1

    def add(name, dtype, shape, scale=0.02, around=0.0):
        nonlocal seed
        seed += 1
        values = [around + value for value in normals(math.prod(shape), seed, scale)]
        tensors.append(tensor(name, dtype, shape, values))

    add("model.embed_tokens.weight", "BF16", (VOCABULARY, HIDDEN))
    tensors.append(tensor("model.embed_tokens.position_ids", "I64", (1, POSITIONS), range(POSITIONS)))
    for layer in range(layers):
        prefix = "model.layers.%d." % layer
        add(prefix + "input_layernorm.weight", "F32", (HIDDEN,), 0.1, 1.0)
        for name, shape in shapes.items():
            add(prefix + name + ".weight", "F32", shape)
        add(prefix + "post_attention_layernorm.weight", "F32", (HIDDEN,), 0.1, 1.0)
    add("model.norm.weight", "F32", (HIDDEN,), 0.1, 1.0)
    add("lm_head.weight", "BF16", (VOCABULARY, HIDDEN))
    return tensors


def write_single(folder, layers=2):
    (folder / "model.safetensors").write_bytes(safetensors(model(layers), {"format": "pt"}))


def write_sharded(folder, layers=2):
    """Two shards of about the same size, named as transformers names them, and their index."""
    tensors = model(layers)
    total = sum(len(data) for *_, data in tensors)
    shards, size = [[], []], 0
    for item in tensors:
        shards[size >= total / 2].append(item)
        size += len(item[3])
    places = {}
    for number, part in enumerate(shards, 1):
        name = "model-%05d-of-00002.safetensors" % number
        (folder / name).write_bytes(safetensors(part, {"format": "pt"}))
        places.update({item[0]: name for item in part})
    index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(places.items()))}
    text = json.dumps(index, indent=2) + "\n"
    (folder / "model.safetensors.index.json").write_text(text, encoding="utf-8")


def write_others(folder, unknown=False):
    """One file of each other format."""
    weights = normals(6 * 4, 7)
    arrays = {"weight": npy("<f4", (6, 4), pack("F32", weights)),
              "half": npy("<f2", (6, 4), pack("F16", weights)),
              "big": npy(">i4", (3,), struct.pack(">3i", 1, -2, 3)),
              "columns": npy("<f4", (2, 3), pack("F32", [1, 4, 2, 5, 3, 6]), fortran=True),
              "scalar": npy("<f8", (), pack("F64", [2.5]))}
    (folder / "weights.npy").write_bytes(arrays["weight"])
    (folder / "columns.npy").write_bytes(arrays["columns"])
    (folder / "arrays.npz").write_bytes(npz(arrays))
    (folder / "deflated.npz").write_bytes(npz(arrays, deflated=True))
    metadata = [("general.architecture", "string", "llama"), ("general.name", "string", "tiny"),
                ("general.alignment", "uint32", 32), ("llama.block_count", "uint32", 1),
                ("llama.rope.freq_base", "float32", 10000.0), ("llama.tied", "bool", True),
                ("tokenizer.ggml.tokens", ("array", "string"), ["<s>", "</s>", "a", "b"]),
                ("tokenizer.ggml.scores", ("array", "float32"), [0.0, -1.0, -2.0, -3.5])]
    tensors = [("token_embd.weight", "F16", (4, 32), pack("F16", normals(128, 8))),
               ("blk.0.attn_q.weight", "Q8_0", (2, 32), bytes(range(68))),
               ("blk.0.ffn_up.weight", 43 if unknown else "Q4_K", (1, 256), bytes(144)),
               ("blk.0.ffn_norm.weight", "F32", (32,), pack("F32", normals(32, 9, 0.1)))]
    (folder / "model.gguf").write_bytes(gguf(metadata, tensors))


def write_hostile(folder):
    """Names, keys and values that must not reach a terminal unescaped."""
    one = pack("F32", [1.0])
    tensors = [(name, "F32", [1], one) for name in HOSTILE]
    notes = {name or "empty": name for name in HOSTILE}
    (folder / "hostile.safetensors").write_bytes(safetensors(tensors, notes))
    short = [name for name in HOSTILE_BYTES if len(name) < 64]
    metadata = [(b"key." + name, "string", name) for name in short]
    metadata.append(("list", ("array", "string"), short))
    (folder / "hostile.gguf").write_bytes(gguf(metadata, [(name, "F32", (1,), one) for name in short]))
    members = {name: npy("<f4", (1,), one) for name in HOSTILE_BYTES if b"\0" not in name}
    (folder / "hostile.npz").write_bytes(npz(members))


def dduf(members):
    """The bytes of an archive of stored members, given as a list of (name, bytes)."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
    return out.getvalue()


def write_dduf(folder):
    unet = [tensor("conv_in.bias", "F32", [3], [1, -2, 0.1]), tensor("conv_in.weight", "F32", [3, 2], [0.5] * 6)]
    vae = [tensor("conv_in.weight", "F16", [2], [1, 2]), tensor("steps", "I64", [2], [3, 4])]
    (folder / "model.dduf").write_bytes(dduf([
        ("model_index.json", b'{"_class_name": "P", "unet": ["diffusers", "U"], "vae": ["diffusers", "V"]}'),
        ("unet/config.json", b'{"sample_size": 8}'),
        ("unet/diffusion_pytorch_model.safetensors", safetensors(unet, {"format": "pt"})),
        ("vae/config.json", b"{}"),
        ("vae/diffusion_pytorch_model.safetensors", safetensors(vae, {"format": "pt"}))]))


def main():
    parser = argparse.ArgumentParser(description="write small checkpoints")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--single", action="store_true", help="one file instead of two shards")
    parser.add_argument("--others", action="store_true", help="npy, npz and gguf instead")
    parser.add_argument("--unknown", action="store_true", help="the same, with a type in the gguf that ggml does not have")
    parser.add_argument("--dduf", action="store_true", help="a dduf instead")
    parser.add_argument("--hostile", action="store_true", help="names that attack a terminal instead")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.others or options.unknown:
        write_others(options.folder, options.unknown)
    if options.dduf:
        write_dduf(options.folder)
    if options.hostile:
        write_hostile(options.folder)
    if options.single:
        write_single(options.folder, options.layers)
    elif not (options.others or options.unknown or options.dduf or options.hostile):
        write_sharded(options.folder, options.layers)


if __name__ == "__main__":
    main()
