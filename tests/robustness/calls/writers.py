# SPDX-License-Identifier: MIT
"""Commands that write files, as rows: their words, what is there before, and what dtinfo-cast(1) promises about it. The
inputs are in the folder `i`, the outputs in `o`, unnamed temporary files in `t`."""
import contextlib
import dataclasses
import json
import os
import pathlib
import shutil

from file_casts import LARGE, LARGE_CAST, MIB, arrays
from make_checkpoint import gguf, normals, npy, npz, pack, safetensors, write_dduf, write_others, write_sharded, write_single
from make_fused import make_tensors, write_model
from make_gptq import main as make_gptq
from make_mlx import main as make_mlx
from output_sets import folder
from survival import QUICK, require, run

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"
INDEX, RECORD = "model.safetensors.index.json", ".part"
RAW, RAW_CAST = arrays(3000)
OLD = b"old"


@dataclasses.dataclass
class Row:
    name: str
    words: list
    old: dict = dataclasses.field(default_factory=dict)  # {path in o: bytes, or the target of a link}
    by_file: bool = False  # files take their names one by one, each complete, an index last
    before: dict = None  # the old files, see prepare()
    apart: int = 1  # outputs that are opened apart: each may leave a temporary name
    prints: bool = False  # what it writes goes to standard output
    good: object = None  # an undisturbed run
    new: dict = None  # the files that it leaves
    written: set = None  # the paths of what it creates

    def __str__(self):
        return "%s: dtinfo %s" % (self.name, " ".join(self.words))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def tree(path="o"):
    """{path: bytes} of all files; folders end in a slash and have no bytes."""
    found = {}
    for at, folders, files in os.walk(path):
        below = os.path.relpath(at, path)
        prefix = "" if below == "." else below + "/"
        found.update({prefix + name + "/": b"" for name in folders})
        found.update({prefix + name: read(os.path.join(at, name)) for name in files})
    return found


def is_temporary(path):
    return ".dtinfo-" in path


def strays(files):
    """The topmost temporary names."""
    return sorted({path.split("/")[at] for path in files for at in range(path.count("/") + 1) if ".dtinfo-" in path.split("/")[at]})


def fill(files, path="o"):
    """Makes the folder contain these files and nothing else."""
    shutil.rmtree(path, ignore_errors=True)
    os.mkdir(path)
    for name, data in files.items():
        at = os.path.join(path, name)
        if name.endswith("/"):
            os.makedirs(at, exist_ok=True)
            continue
        os.makedirs(os.path.dirname(at), exist_ok=True)
        if isinstance(data, str):
            os.symlink(data, at)
            continue
        with open(at, "wb") as file:
            file.write(data)


def made(*words):
    done = run(list(words))
    require(done.code == 0, "not made:", words, done.stderr)


def write_inputs():
    """The folder `i`."""
    os.mkdir("i")
    os.mkdir("t")
    here = pathlib.Path("i")
    (here / "raw.bin").write_bytes(RAW)
    (here / "large.bin").write_bytes(LARGE[:6 * MIB])
    (here / "text.txt").write_text("1.5,70000\n1e-9 0x1p-3 1/3")
    numbers = pack("F32", normals(24 * 64, 3))
    (here / "a.npy").write_bytes(npy("<f4", (24, 64), numbers))
    (here / "fortran.npy").write_bytes(npy("<f4", (24, 64), numbers, fortran=True))
    (here / "a.npz").write_bytes(npz({"a": npy("<f4", (24, 64), numbers), "b": npy("<f4", (24, 64), numbers)}, deflated=True))
    (here / "a.safetensors").write_bytes(safetensors([("a.weight", "F32", [24, 64], numbers), ("b.weight", "F32", [24, 64], numbers)]))
    write_single(here, 1)
    write_others(here)
    write_dduf(here)
    os.mkdir("i/model")
    write_sharded(here / "model", 1)
    (here / "model/config.json").write_text('{"model_type": "llama", "rms_norm_eps": 1e-05}\n')
    (here / "model/tokenizer.json").write_text("{}\n")
    (here / "f.gguf").write_bytes(gguf([("general.architecture", "string", "llama"), ("general.name", "string", "x" * 99)],
                                       [(name, "F32", (4, 256), pack("F32", normals(1024, seed))) for seed, name in enumerate("abc")]))
    (here / "f.safetensors").write_bytes(safetensors([(name, "F32", [4, 256], pack("F32", normals(1024, seed)))
                                                      for seed, name in enumerate("abc")]))
    for name in ("torch.pt", "external.onnx", "external.data"):
        shutil.copy(DATA / name, "i")
    make_gptq("i/gptq.safetensors", "qzeros=I32:2,4:119", "g_idx=I32:64:0")
    os.mkdir("i/mx")
    make_mlx("i/mx/model.safetensors", "a.weight_packed=U8:2,16", "a.weight_scale=U8:2,1", "b.weight_packed=U8:2,16",
             "b.weight_scale=F8_E4M3:2,2/38", "b.weight_global_scale=F32:1/0000803f")
    (here / "mx/config.json").write_text(json.dumps({"quantization_config": {}}))
    write_model("i/fused", make_tensors("modelopt", 1, 1), "modelopt", 2)
    made("cast", "i/f.gguf", "fp32", "-q", "-o", "i/s.gguf", "--max-shard-size", "6000")
    made("quant", "i/a.safetensors", "int4", "--block", "32", "-q", "-o", "i/int4.safetensors")
    made("advise", "i/model", "--fit", "40kB", "--menu", "stored,int8", "-q", "-o", "i/plan.json")
    (here / "recipe.json").write_bytes(run(["explain", "i/a.safetensors", "i/int4.safetensors", "--json"]).stdout)


def old_of(*names):
    return {name: OLD for name in names}


SHARDS = ["new/model-00001-of-00002.safetensors", "new/model-00002-of-00002.safetensors", "new/" + INDEX]


def rows():
    """A row for each way to write: from and to each kind of file, over old ones, in place, as sets."""
    inputs = {name: read("i/" + name) for name in ("a.npy", "model.safetensors", "f.gguf", "a.npz")}

    def row(name, text, old=None, by_file=False):
        return Row(name, text.split(), old or {}, by_file)
    yield row("raw", "cast i/raw.bin bf16 --from fp32 -o o/out.bin --force", old_of("out.bin"))
    yield row("space", "cast i/large.bin bf16 --from fp32 -o o/out.bin --threads 2")
    yield row("text", "cast i/text.txt bf16 --from text -o o/out.npy")
    yield row("npy", "cast o/a.npy fp16 -o o/a.npy --force", {"a.npy": inputs["a.npy"]})
    yield row("turned", "cast i/fortran.npy bf16 -o o/out.safetensors")
    yield row("npz", "cast o/a.npz fp16 -o o/a.npz --force", {"a.npz": inputs["a.npz"]})
    yield row("safetensors", "cast o/model.safetensors bf16 -o o/model.safetensors --force --json",
              {"model.safetensors": inputs["model.safetensors"]})
    yield row("new folder", "cast i/model bf16 -o o/new")
    yield row("old folder", "cast i/model bf16 -o o/new/ --force", old_of(*SHARDS, "new/config.json", "new/other"), True)
    yield row("links", "cast i/model bf16 -o o/new/ --force", {
        **old_of("blobs/0", "blobs/1", *SHARDS[2:]), **{path: "../blobs/%d" % at for at, path in enumerate(SHARDS[:2])}}, True)
    yield row("old form", "cast i/model bf16 -o o/new/ --force", old_of("new/model.safetensors", "new/other"), True)
    yield row("one file", "cast i/model bf16 -o o/new.safetensors")
    yield row("old shards", "cast i/model.safetensors bf16 -o o/new/model.safetensors --force",
              {**{"new/" + name: read("i/model/" + name) for name in os.listdir("i/model") if name.endswith(("s", "x.json"))}}, True)
    yield row("same folder", "cast o/model.safetensors bf16 -o o/ --max-shard-size 30000 --force --json",
              {"model.safetensors": inputs["model.safetensors"], "config.json": b'{"model_type": "llama"}\n'}, True)
    yield row("gguf", "cast o/f.gguf bf16 -o o/f.gguf --force", {"f.gguf": inputs["f.gguf"]})
    yield row("split", "cast i/f.gguf fp16 -o o/s.gguf --max-shard-size 4000 --force",
              old_of("s-00001-of-00002.gguf", "s-00002-of-00002.gguf"), True)
    yield row("joined", "cast i/s-00001-of-00003.gguf bf16 -o o/s.gguf")
    yield row("kept", "cast o/s-00001-of-00003.gguf bf16 -o o/s.gguf --force",
              {"s-0000%d-of-00003.gguf" % at: read("i/s-0000%d-of-00003.gguf" % at) for at in (1, 2, 3)}, True)
    yield row("torch", "cast i/torch.pt bf16 -o o/out.safetensors --threads 2")
    yield row("onnx", "cast i/external.onnx bf16 -o o/out.safetensors")
    yield row("dduf", "cast i/model.dduf bf16 -o o/out.dduf --force", old_of("out.dduf"))
    yield row("part", "cast i/model bf16 -o o/new --part 1/2 --force", old_of(
        "new/model-00001-of-00002.safetensors", "new/.model-00001-of-00002.safetensors.part"), True)
    yield row("parts", "quant i/a.npy uint8 --per channel -o o/q.npy --force", old_of("q.npy", "q_scale.npy", "q_zero_point.npy"), True)
    yield row("quant", "quant i/a.safetensors int4 --block 32 -o o/out.safetensors --force", old_of("out.safetensors"))
    yield row("quant npz", "quant i/a.npz int8 -o o/q.npz")
    yield row("modelopt", "quant i/model nvfp4 --layout modelopt --keep *down_proj* -o o/new")
    yield row("blocks", "quant i/f.gguf q4_k --type *=q4_k -o o/f.gguf")
    yield row("template", "quant i/f.safetensors q4_0 --type *=q4_0,b=q6_k --template i/f.gguf -o o/f.gguf --force", old_of("f.gguf"))
    yield row("dequant", "quant i/gptq.safetensors bf16 --dequant -o o/out.safetensors")
    yield row("back", "quant i/int4.safetensors fp32 --dequant -o o/out.safetensors --threads 2")
    yield row("transcode", "transcode i/mx --to compressed-tensors -o o/new --force", old_of(
        "new/model.safetensors", "new/config.json"), True)
    yield row("reconcile", "transcode i/fused --reconcile -o o/new")
    yield row("advise", "advise i/model --fit 40kB --menu stored,int8 -o o/plan.json")
    yield Row("choices", "advise i/model --fit 40kB --menu stored,int8 -o o/plan.json --svg o/plan.svg --force".split(), old_of("plan.json"),
              True, apart=2)
    yield row("plan", "quant i/model --plan i/plan.json -o o/new")
    yield row("calc", "calc @i/a.npy*2 fp16 -o o/out.npy --true-value never")


def others():
    """Commands that write to standard output alone, and one that never replaces what is there."""
    yield Row("attest", "verify i/a.safetensors i/int4.safetensors --recipe i/recipe.json --attest o/a.json --json".split())
    for name, text in (
            ("stream", "cast i/large.bin bf16 --from fp32 -o - -q --threads 2"), ("vectors", "vectors mul:fp4_e2m1"),
            ("sarif", "check i/model.safetensors --no-nan --format sarif"), ("inspect", "inspect i/model --stats --json"),
            ("explain", "explain i/a.safetensors i/int4.safetensors"), ("compare", "compare i/f.gguf i/f.safetensors --json"),
            ("measured", "advise i/model --fit 40kB --menu stored,int8 --json")):
        yield Row(name, text.split(), prints=True)


def select(every):
    """With DTI_TEST_QUICK, each other row."""
    return [row for at, row in enumerate(every) if not QUICK or at % 2 == 0]


@contextlib.contextmanager
def workplace(*more):
    """A folder with inputs; yields the rows, and more, prepared."""
    with folder():
        os.unlink("in.bin")
        write_inputs()
        yield [prepare(row) for row in [*rows(), *more]]


def prepare(row):
    fill(row.old)
    row.before = tree()
    row.good = run(row.words)
    row.new = tree()
    require(row.good.code == 0 and not strays(row.new), "an undisturbed run of", row.words, row.good.code, row.good.stderr, sorted(row.new))
    require((row.new == row.before) == row.prints, "nothing is written by", row.words)
    right = {"raw": RAW_CAST, "space": LARGE_CAST[:3 * MIB]}.get(row.name)
    require(right in (None, row.new.get("out.bin")), "another cast", row.words)
    return row


def with_links(row, found):
    """These files, and links where the row has them."""
    return {**found, **{path: to for path, to in row.old.items() if isinstance(to, str) and path in found}}


def files_of(found):
    return {path: data for path, data in found.items() if not path.endswith("/")}


def is_new(row, found, kind=".safetensors"):
    """Whether these are the new files, and otherwise only old ones: shards that no index names any more."""
    files = files_of(found)
    more = {path: data for path, data in files.items() if path not in row.new}
    return {**files_of(row.new), **more} == files and all(
        row.before.get(path) == data and path.endswith(kind) for path, data in more.items())


def broken_promise(row, found):
    """Why these files are neither the old nor the new ones, or None. `found` has no temporary names."""
    old, new, found = files_of(row.before), files_of(row.new), files_of(found)
    if found in (old, new):
        return None
    if not row.by_file:
        return "neither old nor new: %s" % sorted((path, len(data)) for path, data in found.items())
    for path in sorted({*old, *new, *found}):
        if found.get(path) not in (old.get(path), new.get(path)) and not (path.endswith(RECORD) and path not in found):
            return "neither the old file nor the new one: %s" % path
    complete = all(found.get(path) == data for path, data in new.items())
    last = [path for path in new if path.endswith((INDEX, RECORD)) and new[path] != old.get(path)]
    if any(found.get(path) == new[path] for path in last) and not complete:
        return "an index or a record before its files: %s" % sorted(found)
    gone = [path for path in old if path not in found and not path.endswith(RECORD)]  # which goes first
    if gone and not complete:
        return "%s was removed before the new files were there" % gone[0]
    return None
