# SPDX-License-Identifier: MIT
"""Files of torch.save(): what dtinfo copies out equals what torch.load(weights_only=True) loads, bit for bit.

usage: test_torch_files.py DTINFO
"""
import collections
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings

from harness import Tally, have
from tensor_files import read_file

PROGRAM = os.path.abspath(sys.argv[1])
if not have("torch"):
    print("skipped: needs torch")
    sys.exit(77)
import torch

warnings.simplefilter("ignore")
TALLY = Tally()
RANDOM = random.Random(20261123)
NAMES = {torch.float32: "F32", torch.float64: "F64", torch.float16: "F16", torch.bfloat16: "BF16", torch.int8: "I8",
         torch.int16: "I16", torch.int32: "I32", torch.int64: "I64", torch.uint8: "U8", torch.uint16: "U16",
         torch.uint32: "U32", torch.uint64: "U64", torch.bool: "BOOL", torch.complex64: "C64",
         torch.float8_e4m3fn: "F8_E4M3", torch.float8_e5m2: "F8_E5M2", torch.float8_e4m3fnuz: "F8_E4M3FNUZ",
         torch.float8_e5m2fnuz: "F8_E5M2FNUZ", torch.float8_e8m0fnu: "F8_E8M0"}
WAYS = {"zip": {}, "legacy": {"_use_new_zipfile_serialization": False},
        **{"zip, protocol %d" % p: {"pickle_protocol": p} for p in (3, 4, 5)},
        "legacy, protocol 4": {"_use_new_zipfile_serialization": False, "pickle_protocol": 4}}


def run(*words):
    return subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def flat(value, name=""):
    """The tensors of nested dicts and lists with dotted names, by recursion: independent of the program's walk."""
    if isinstance(value, torch.Tensor):
        return {name: value}
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, (list, tuple)):
        pairs = list(enumerate(value))
    else:
        return {}
    found = {}
    for key, inner in pairs:
        found.update(flat(inner, name + "." + str(key) if name else str(key)))
    return found


def raw(tensor):
    flat_copy = torch.empty(tensor.numel(), dtype=tensor.dtype).copy_(tensor.detach().reshape(-1))
    return flat_copy.view(torch.uint8).numpy().tobytes()


def copied(path):
    done = run("cast", path, "fp32", "--keep", "*", "-q", "--force", "-o", "out.safetensors")
    if done.returncode != 0:
        return done.stderr.decode().strip()
    return read_file("out.safetensors")


def loaded(path, value, protocol):
    """What torch loads, without executing anything in protocol 2; for files that torch cannot read, the saved
    value: dtypes without a storage class in the older format."""
    try:
        return torch.load(path, weights_only=protocol == 2)
    except AttributeError as error:
        TALLY.check("torch fails where it does", "'torch.storage.UntypedStorage' has no attribute 'dtype'" in str(error), True)
        return value


def same(what, value, path="x.pt", **how):
    torch.save(value, path, **how)
    value = loaded(path, value, how.get("pickle_protocol", 2))
    tensors = {"data": value} if isinstance(value, torch.Tensor) else flat(value)
    want = {name: (NAMES[t.dtype], list(t.shape), raw(t)) for name, t in tensors.items()}
    got = copied(path)
    if isinstance(got, str):
        TALLY.differ(what, got, "%d tensors" % len(want))
        return
    TALLY.check(what + ": names", sorted(got), sorted(want))
    for name in want:
        TALLY.check("%s: %s" % (what, name), got.get(name), want[name])


def of(dtype, *shape):
    count = 1
    for length in shape:
        count *= length
    if dtype == torch.bool:
        return torch.randint(0, 2, shape).bool()
    size = torch.empty(0, dtype=dtype).element_size()
    data = torch.randint(0, 256, (count * size,), dtype=torch.uint8)
    return data.view(dtype).reshape(shape)


def dtypes():
    for way, how in WAYS.items():
        for dtype in NAMES:
            value = of(dtype, 3, 4, 5)
            same("%s, %s" % (dtype, way), {"a": value, "b": value[1], "t": value.transpose(0, 2), "s": value[:, 1:3, ::2],
                                           "scalar": value[0, 0, 0], "none": value[:0]}, **how)
    TALLY.part("dtypes")


def random_view(base):
    """Any shape and strides, including zero strides, that stay within the storage."""
    rank = RANDOM.randint(0, 5)
    shape, strides, left = [], [], base.numel() - 1
    for _ in range(rank):
        stride = RANDOM.choice((0, 1, 1, 2, 3, 7, RANDOM.randint(0, 60)))
        most = left // stride if stride else 4
        length = RANDOM.randint(1, min(most, 9) + 1) if RANDOM.random() > 0.03 else 0
        left -= max(length - 1, 0) * stride
        shape.append(length)
        strides.append(stride)
    order = list(range(rank))
    RANDOM.shuffle(order)
    return base.as_strided([shape[i] for i in order], [strides[i] for i in order], RANDOM.randint(0, left))


def views():
    for round_ in range(40):
        base = of(RANDOM.choice(list(NAMES)), 400)
        how = RANDOM.choice(list(WAYS.values()))
        same("random views %d" % round_, [random_view(base) for _ in range(25)], **how)
    large = torch.arange(3 * 700 * 801, dtype=torch.int32).reshape(3, 700, 801)
    for dims in ((0, 2, 1), (2, 1, 0), (2, 0, 1), (1, 0, 2), (1, 2, 0)):
        same("large, permuted %s" % (dims,), {"a": large.permute(dims), "b": large[:, 3:, 5:].permute(dims),
                                              "c": large[1:, ::3, ::7].permute(dims)})
    wide = torch.arange(5 * 400001, dtype=torch.float32).reshape(5, 400001)
    same("far apart", {"a": wide[:, 7], "b": wide[:, ::399999], "c": wide.t()[::1000], "d": wide[:, 3:300000],
                       "e": wide[1].expand(3, 400001), "f": wide.reshape(5, 1, 400001).expand(5, 2, 400001)[:, :, ::2]})
    images = torch.randn(6, 33, 17, 19).contiguous(memory_format=torch.channels_last)
    same("channels last", {"a": images, "b": images[:, 1:, 2:]})
    TALLY.part("views")


def structures():
    a, b = torch.randn(4, 5), torch.arange(6)
    module = torch.nn.Sequential(torch.nn.Linear(5, 3), torch.nn.BatchNorm1d(3))
    state = module.state_dict()
    optimizer = torch.optim.AdamW(module.parameters())
    module(torch.randn(4, 5)).sum().backward()
    optimizer.step()
    cases = {
        "a tensor": a, "a list": [a, [b, (a[1], {"x": b})]], "a tuple": (a, b),
        "a parameter": {"w": torch.nn.Parameter(a), "frozen": torch.nn.Parameter(a[1:], requires_grad=False)},
        "state_dict with _metadata": state, "optimizer": {"model": state, "optimizer": optimizer.state_dict(), "epoch": 3},
        "nested": {"state_dict": collections.OrderedDict(a=a, b=b), "params": {"x": {"y": {"z": [a]}}}},
        "ties": {"embed": a, "head": a, "part": a[1:3], "again": a.t()},
        "integer keys": {0: a, -5: b, 2**40: a[0]},
        "plain values": {"a": a, "epoch": 7, "lr": 1e-3, "name": "x\u00e9\u4e16", "flag": True, "nothing": None,
                         "big": 2**80, "size": torch.Size([1, 2]), "device": torch.device("cpu"),
                         "dtype": torch.bfloat16, "set": {1, 2}, "bytes": b"\xff\0", "complex": 1 + 2j},
        "odd names": {"": a, "a b/c\n": b, "\u00e9": a[0], "x" * 300: b[1]},
        "many": {"layer.%d.weight" % i: torch.full((2, i % 3), i) for i in range(3000)},
    }
    for way, how in WAYS.items():
        for what, value in cases.items():
            same("%s, %s" % (what, way), value, **how)
    deep = [a]
    for _ in range(300):
        deep = [deep]
    same("deep", deep)
    TALLY.part("structures")


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(40, 16)
        layer = torch.nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
        self.encoder = torch.nn.TransformerEncoder(layer, 2)
        self.head = torch.nn.Linear(16, 40, bias=False)
        self.head.weight = self.embed.weight


def transformer():
    state = Block().state_dict()
    half = {name: tensor.bfloat16() for name, tensor in state.items()}
    for what, value in (("as is", state), ("bf16", half), ("in a checkpoint", {"model": state, "ema": half, "step": 9}),
                        ("as a list", list(state.values())), ("transposed", {n: t.t() if t.dim() == 2 else t
                                                                             for n, t in state.items()})):
        for way, how in WAYS.items():
            same("transformer %s, %s" % (what, way), value, **how)
    names = sorted(state)
    os.makedirs("model", exist_ok=True)
    index = {}
    for number, part in enumerate((names[::2], names[1::2]), 1):
        shard = "pytorch_model-%05d-of-00002.bin" % number
        torch.save({name: state[name].t() if state[name].dim() == 2 else state[name] for name in part}, "model/" + shard)
        index.update((name, shard) for name in part)
    with open("model/pytorch_model.bin.index.json", "w", encoding="utf-8") as file:
        json.dump({"metadata": {}, "weight_map": index}, file)
    for path in ("model", "model/pytorch_model.bin.index.json"):
        got = copied(path)
        TALLY.check(path, isinstance(got, str) and got, False)
        for name in names if not isinstance(got, str) else ():
            want = state[name].t() if state[name].dim() == 2 else state[name]
            TALLY.check("%s: %s" % (path, name), got.get(name), ("F32", list(want.shape), raw(want)))
    sharded(state, index)
    TALLY.part("transformer")


def sharded(state, index):
    """A folder of shards becomes a folder of safetensors files, with an index and the other files; a tensor tied
    across shards stays in both."""
    with open("model/config.json", "w", encoding="utf-8") as file:
        file.write('{"tie_word_embeddings": true}')
    TALLY.check("the tie is in two shards", index["embed.weight"] != index["head.weight"], True)
    done = run("cast", "model", "bf16", "--keep", "*", "-q", "-o", "shards")
    TALLY.check("shards", (done.returncode, sorted(os.listdir("shards"))), (0, [
        "config.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "model.safetensors.index.json"]))
    if done.returncode != 0:
        return
    with open("shards/model.safetensors.index.json", encoding="utf-8") as file:
        made = json.load(file)
    TALLY.check("index", made["weight_map"], {name: shard.replace("pytorch_", "").replace(".bin", ".safetensors")
                                              for name, shard in index.items()})
    got = {}
    for number in (1, 2):
        shard = "model-%05d-of-00002.safetensors" % number
        tensors = read_file("shards/" + shard)
        TALLY.check(shard, sorted(tensors), sorted(name for name in index if made["weight_map"].get(name) == shard))
        got.update(tensors)
    TALLY.check("total_size", made["metadata"]["total_size"], sum(len(tensor[2]) for tensor in got.values()))
    for name, tensor in state.items():
        want = tensor.t() if tensor.dim() == 2 else tensor
        TALLY.check("shards: " + name, got.get(name), ("F32", list(want.shape), raw(want)))


class Net:
    def __init__(self):
        self.weight = torch.ones(3)


def listed(what, value, name, **want):
    """Tensors that are not read are listed with the reason."""
    torch.save(value, "x.pt")
    done = run("inspect", "x.pt", "--json")
    if done.returncode != 0:
        TALLY.differ(what, done.stderr.decode(), "a list")
        return
    tensor = {t["name"]: t for t in json.loads(done.stdout)["files"][0]["tensors"]}[name]
    for key, text in want.items():
        got = tensor[key]
        TALLY.check("%s: %s" % (what, key), text if key == "refusal" and text and text in (got or "") else got, text)


def refused():
    x = torch.randn(4, 6)
    listed("meta", {"a": torch.empty(3, 2, device="meta"), "b": x}, "a", refusal="meta device", shape=[3, 2])
    listed("quantized", {"a": torch.quantize_per_tensor(x, 0.1, 3, torch.quint8)}, "a", refusal="quantized by torch",
           stored_as="torch.quint8")
    listed("sparse", {"a": x.to_sparse(), "b": x}, "a", refusal="sparse", shape=[4, 6])
    listed("conjugate", {"a": torch.view_as_complex(x.reshape(4, 3, 2)).conj()}, "a", refusal="conjugation")
    z = torch.view_as_complex(x.reshape(4, 3, 2))
    for what, one, other in (("a scale", torch.quantize_per_tensor(x, 0.5, 3, torch.qint8), torch.quantize_per_tensor(x * 2, 1.0, 3, torch.qint8)),
                             ("a sign", x, torch._neg_view(x)), ("a conjugation", z, z.conj())):
        torch.save({"a": one}, "x.pt")
        torch.save({"a": other}, "y.pt")
        for files in (("x.pt", "y.pt"), ("y.pt", "x.pt")):   # their bytes are the same, their numbers are not
            done = run("compare", *files)
            TALLY.check("other numbers by " + what, (done.returncode, b"not comparable" in done.stdout), (3, True))
            TALLY.check("other numbers by %s: explain" % what, run("explain", *files).returncode, 1)
    listed("pairs", {"a": torch.zeros(4, 2, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)}, "a", shape=[4, 4],
           stored_as="torch.float4_e2m1fn_x2", refusal=None)
    listed("complex128", {"a": torch.zeros(2, dtype=torch.complex128)}, "a", dtype="complex128", refusal=None)
    listed("complex32", {"a": torch.zeros(2, dtype=torch.complex32)}, "a", dtype="complex32", refusal=None)
    listed("expanded beyond bound", {"a": torch.zeros(1).expand(1 << 40)}, "a", refusal="too often")
    torch.save({"net": Net(), "a": x}, "x.pt")
    done = run("inspect", "x.pt")
    TALLY.check("an object", (done.returncode, "holds '__main__.Net'" in done.stderr.decode()), (3, True))
    done = run("inspect", "x.pt", "--lenient", "-q")
    TALLY.check("an object, --lenient", (done.returncode, done.stdout), (0, b"a\n"))
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), "x.pt")
    done = run("inspect", "x.pt")
    TALLY.check("TorchScript", (done.returncode, "TorchScript" in done.stderr.decode()), (3, True))
    TALLY.part("refused")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    torch.manual_seed(1)
    dtypes()
    views()
    structures()
    transformer()
    refused()
    os.chdir("/")
TALLY.finish()
