#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Memory runs out at the n-th allocation, for every n: the run must give the full answer, or exit 5 and one line; or,
once the output is complete, exit 0 and one line that reports it. If memory stays exhausted: every third n unless the
last word is "long"."""
import glob
import json
import os
import pathlib
import shutil
import signal
import struct
import sys
import tempfile

from make_checkpoint import gguf, normals, pack, safetensors, tensor, write_others, write_sharded, write_single
from make_fused import make_tensors, write_model
from make_gptq import main as make_gptq
from make_mlx import main as make_mlx
from survival import QUICK, SANITIZED, check, environment, main, require, require_one_line, run

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
LIBRARY = os.path.abspath(sys.argv.pop(3))
DEVICE = os.path.join(os.path.dirname(LIBRARY), "..", "fake", "libfake_cuda.so")
LONG = "long" in sys.argv[3:]
if LONG:
    sys.argv.remove("long")
HERE = pathlib.Path(__file__).resolve().parent
ALLOCATIONS = 100000
NO_MEMORY = 5
QUESTIONS = [(words.split(), b"") for words in (
    "list", "list --aliases", "list --json", "finfo", "finfo bf16", "finfo bf16 fp64 --json", "iinfo",
    "iinfo int8", "iinfo int8 --json", "cast 70000 bf16", "cast 70000 bf16 -v", "cast 70000 all",
    "cast 500 fp8_e4m3fn --stacks", "cast 0x1.123456789abcdefp-900 fp16",
    "cast 0x1.123456789abcdefp-900 fp16 --json", "cast 1e-4950 fp16", "bits 0x47", "bits 0x4789 --json",
    "bits 0x4789 bf16", "--version --json", "help", "completion bash")]
QUESTIONS += [("cast - bf16".split(), b"1.5\n70000\n1e-9\n"),
              ("cast - bf16 --jsonl".split(), b"1.5\n70000\n1e-9\n"),
              ("cast - bf16 --json".split(), b"1.5\n70000\n1e-9\n")]
QUESTIONS += [(words.split(), b"1.5, 70000\n-1e-9 0x1p-3 1/3 nan") for words in (
    "quant - int8,mxfp4", "quant - uint4 --block 2 --json", "quant - nvfp4,q4_0 -v --nibble high",
    "quant - nf4,fp8_e5m2 --jsonl")]
QUESTIONS += [(words.split() + ["-o", "/dev/null"], bytes(range(240))) for words in (
    "cast - bf16 --from fp32", "cast - fp4_e2m1 --from fp16 --json --overflow saturate",
    "cast - int8 --from fp64 --threads 2", "cast - fp16 --from e5m6 --via fp32 -q")]
QUESTIONS += [("cast - fp32 --from bf16 --as text".split(), bytes(range(240))),
              ("cast - fp16 --from text --as text".split(), b"1.5,70000\n1e-9 0x1p-3 1/3"),
              ("cast - bf16 --from text --like torch -o /dev/null".split(), b"1.5,70000 1/3")]
QUESTIONS += [(words.split(), b"") for words in (
    "calc exp(1/3)+0.1 bf16", "calc [1,2]/3 fp16 --json --steps",
    "calc layernorm([1,2]) fp32 --steps --accumulate fp64 --true-value never",
    "calc sum(rand(99)) fp16 --steps --json --true-value never",
    "calc [[1,2],[3,4]]/3 fp16,bf16,int8 --true-value never",
    "calc @weights.npy*2 fp16 -o out.npy --true-value never",
    "calc @model.safetensors:model.norm.weight fp32 --json --true-value never")]
# for files that main() creates
QUESTIONS += [(words.split(), b"") for words in (
    "inspect model.safetensors", "inspect model.safetensors -q", "inspect model.safetensors --tree",
    "inspect model.safetensors.index.json -v --sort size", "inspect model.gguf --json",
    "inspect model.gguf weights.npy --jsonl --stats", "inspect arrays.npz --stats --grep a",
    "inspect deflated.npz --histogram --each --threads 2",
    "inspect weights.npy --from fp4_e2m1 --json --stats --histogram --each")]
QUESTIONS += [(words.split(), b"") for words in (
    "mem 7B", "mem 1.5B 3x5 bf16,mxfp4 --json --fit 4GB", "mem model.safetensors -v --keep *norm*",
    "mem model.gguf int4 --train adam,adam8bit --json", "mem 1e3 --train all -v",
    "mem cache/config.json --context 1k --batch 2 --kv-dtype bf16,q8_0 -v", "mem cache --context 1k --fit 1GB --json")]
QUESTIONS += [(words.split(), b"") for words in (
    "quant model.safetensors.index.json mxfp6_e3m2 --select *q_proj* -o new/ --force --json",
    "quant model.safetensors.index.json nvfp4 --select *q_proj* -o new/ --force --json",
    "quant columns.npy uint4 --block 1 -o q.npy --force --threads 2")]
QUESTIONS += [(words.split(), b"") for words in (
    "cast model.safetensors bf16 -o /dev/null -v",
    "cast model.safetensors.index.json fp8_e4m3fn -o /dev/null --json --select *norm*",
    "cast model.safetensors.index.json bf16 -o new/ --force",
    "cast model.safetensors.index.json fp16 -o new/ --force --part 2/2 --json",
    "cast sharded bf16 -o new/ --json", "cast weights.npy fp16 -o out.npy -v --json",
    "cast model.safetensors bf16 -o new.npz --force", "cast deflated.npz fp16 -o new.npz --force --json",
    "cast model.gguf bf16 -o new.gguf --force --json", "inspect split", "check split/m-00002-of-00002.gguf",
    "cast split/m-00002-of-00002.gguf bf16 -o new.gguf --force --max-shard-size 700 --json", "cast model.gguf fp16 --dry-run -o dry.gguf",
    "cast model.gguf bf16 -o split/m.gguf --force --dry-run --json", "cast split/m-00001-of-00002.gguf bf16 -o split/m.gguf --dry-run --json",
    "calc @weights.npy*2 fp16 -o new.npz --force --true-value never", "quant columns.npy int8 -o new.npz --force",
    "cast weights.npy fp16 -o out.npy", "quant columns.npy int8 -o q.npy --json",
    "cast raw.bin bf16 --from fp16 -o out.bin", "cast raw.bin bf16 --from fp16 -o out.bin --json",
    "cast model.safetensors bf16 --dry-run --only *q_proj*",
    "cast deflated.npz fp16 -o /dev/null --keep big", "cast columns.npy bf16 --as text",
    "cast weights.npy fp4_e2m1 --from fp16 --shape 112 -o /dev/null --as safetensors --packing low -q")]
QUESTIONS += [(words.split(), b"") for words in (
    "compare model.safetensors model.safetensors.index.json", "compare weights.npy arrays.npz --json",
    "compare weights.npy deflated.npz --only data,half -v --threads 2 --atol 1",
    "compare model.gguf model.gguf -v", "compare weights.npy columns.npy --from bf16 --shape 112 -q",
    "check model.safetensors", "check model.gguf --no-nan --no-inf -v", "check model.safetensors --as bf16,int8 --max-to-zero 0.5 --json",
    "inspect arrays.npz --as fp16 --threads 2", "cast model.safetensors int8 --dry-run --fail-on overflow",
    "check weights.npy arrays.npz --max-abs 0.01 --fits fp16,int8 --shape 6,4;*a*:* --dtype fp32:*a* --json",
    "check weights.npy --from e4m3 --no-nan -q --threads 2")]

QUESTIONS += [(words.split(), b"") for words in (
    "compare model.safetensors model.safetensors.index.json --json --top 3",
    "compare model.gguf model.safetensors -v --ignore-missing --rtol 1e-3",
    "compare deflated.npz arrays.npz --jsonl --threads 2", "compare weights.npy columns.npy --bitwise",
    "check model.safetensors --valid --no-nan --fits fp16 --dtype bf16,fp32:*norm* --max-abs 3",
    "check model.safetensors.index.json --json --no-inf --shape *norm*:*",
    "check deflated.npz --no-nan --jsonl", "check model.gguf", "check gptq.safetensors --quantized -v",
    "check mlx --quantized --json --threads 2", "check mlx --loader vllm,transformers=4 --max-bits-per-weight 4 --json")]
QUESTIONS += [("check model.safetensors weights.npy --policy policy.json --baseline known.json -v --format".split() + [form], b"")
              for form in ("text", "junit", "sarif", "github")]
QUESTIONS += [(words.split(), b"") for words in (
    "inspect torch.pt --json", "inspect torch_object.pt --lenient", "compare torch.pt torch_old.pt",
    "cast torch_old.pt bf16 -o out.safetensors --force --threads 2")]
QUESTIONS += [(words.split(), b"") for words in (
    "inspect gptq.safetensors --stats", "compare gptq.safetensors awq.safetensors --json",
    "quant gptq.safetensors bf16 --dequant -o out.safetensors --force --threads 2",
    "quant awq.safetensors fp32 --dequant -o out.safetensors --force --json",
    "transcode mlx/model.safetensors --to gpt-oss --only x -o out.safetensors --force --json",
    "transcode mx --to modelopt --dtype nvfp4 -o mx_out --force --threads 2",
    "transcode mx --to compressed-tensors -o mx_out --force -v",
    "transcode fused --reconcile -o fused_out --force -v --threads 2", "check fused --quantized --json --fused q_proj,o_proj",
    "transcode fused --reconcile --fused q_proj,o_proj --keep *expert* -o fused_out --force --json",
    "inspect mlx/model.safetensors", "quant mlx/model.safetensors bf16 --dequant -o out.safetensors --force")]

QUESTIONS += [(words.split(), b"") for words in (
    "inspect graph.onnx --stats --threads 2", "inspect external.onnx -v --json",
    "cast external.onnx bf16 -o out.safetensors --force", "compare graph.onnx graph.onnx --only half,packed,*bias")]

# Each of the first so many allocations fails, also where others are a sample: what a status that is lost changes is seen
# at few places. Wrong input shows it best: without the failed step all would seem well.
CLOSELY = [(words.split(), b"", most) for words, most in (
    ("compare named.safetensors named.gguf --map hf-gguf", 400), ("compare named.safetensors named.gguf --map one_name.txt", 400),
    ("calc repeat(1,%s) fp16 --true-value never" % (2 ** 1700 + 1), 100),
    ("cast model.gguf bf16 -o new.gguf --force --set general.name=a --set general.name=b", 200),
    ("check weights.npy --digest sha256:%s" % ("0" * 64), 200),
    ("check model.safetensors --policy policy.json --baseline known.json --format json", ALLOCATIONS),
    ("explain named.safetensors cut.safetensors", 60),
    ("inspect mlx/model.safetensors", ALLOCATIONS), ("check scheme --quantized --bits 8 -v", ALLOCATIONS),
    ("check scheme --quantized --bits 8 --only *k_proj*", ALLOCATIONS),
    ("cast shaped.gguf bf16 -o shaped.safetensors --force", ALLOCATIONS))]

# the C library ends a process if there is no memory for the thread-local data of a library, which MPFR has
NO_THREAD_DATA = b"cannot allocate memory for thread-local data: ABORT\n"


def failing(words, stdin, at, variables):
    """Runs with a failure at the at-th allocation; returns the run and its number of allocations (None: the C
    library or the pretend driver, whose allocation failed, ended it)."""
    with tempfile.NamedTemporaryFile() as counter:
        env = environment(LD_PRELOAD=LIBRARY, DTI_TEST_FAIL_AT=str(at),
                          DTI_TEST_FAIL_COUNT=counter.name, **variables)
        done = run(words, stdin, env)
        text = counter.read()
    if words[0] == "calc" and done.code == 127 and done.stderr == NO_THREAD_DATA:
        return done, None
    if done.code == 128 + signal.SIGABRT and done.stderr.startswith(b"pretend CUDA driver: out of memory"):
        return done, None
    require(text.strip().isdigit(), "the library was not loaded, or the program did not end:", words, at,
            done.code, done.stderr)
    return done, int(text)


def output(words):
    """The files that the command makes, {path: bytes}, or None if unknown."""
    name = words[words.index("-o") + 1] if "-o" in words else None
    if name is None or name == "/dev/null" or "--dry-run" in words:
        return None
    paths = glob.glob(name + "*") if name[-1] == "/" else glob.glob("*".join(os.path.splitext(name)))
    return {path: pathlib.Path(path).read_bytes() for path in paths if os.path.isfile(path)}


def remove_output(words):
    for path in output(words) or ():
        os.unlink(path)
    if "-o" in words and words[words.index("-o") + 1] == "new/":
        shutil.rmtree("new", ignore_errors=True)


def is_json(text):
    try:
        json.loads(text.decode("utf-8"))
    except ValueError:
        return False
    return True


def require_complete(words, done, made):
    """Only the report is missing, and no partial report is printed."""
    line = require_one_line(done, 0)
    require("-o" in words and "is complete, but its report is not: out of memory" in line,
            "another answer:", words, line)
    require(output(words) == made, "it is not complete:", words, sorted(output(words) or ()))
    require(not is_json(done.stdout), "half a report looks whole:", words, done.stdout[-100:])


def drop_warnings(done, whole):
    """Removes the warnings that a run without a failure also prints."""
    said = whole.stderr.splitlines(keepends=True)
    done.stderr = b"".join(line for line in done.stderr.splitlines(keepends=True) if line not in said)


def fail_each(step, closely, **variables):
    total = completed = 0
    for words, stdin, every, most in [(*question, step, ALLOCATIONS + step) for question in QUESTIONS] + [
            (words, stdin, 1, most) for words, stdin, most in closely]:
        remove_output(words)
        whole = run(words, stdin)
        made = output(words)
        at, reached = 1 - every, True
        while reached and at + every <= most:
            at += every
            require(at < ALLOCATIONS, "there is no end to the allocations:", words)
            remove_output(words)
            done, asked = failing(words, stdin, at, variables)
            if asked is None:
                continue
            if words[0] == "calc" and done.code == 0 and b"libmpfr is not available" in done.stdout:
                continue  # the loader failed to load it
            same = (done.code, done.stdout, done.stderr) == (whole.code, whole.stdout, whole.stderr)
            require(not same or done.code != 0 or output(words) == made, "another file:", words, at)
            if not same:
                drop_warnings(done, whole)
            if not same and done.code == 0 or (made and done.code and output(words) == made):
                require_complete(words, done, made)
                completed += 1
                reached = asked >= at
                continue
            require(same or done.code == NO_MEMORY, "another answer:", words, at, done.code, done.stdout,
                    done.stderr)
            if not same and words[0] == "cast" and {"-", "--json"} & set(words):  # one line per operand
                lines = done.stderr.decode("utf-8").splitlines()
                require(lines and all(line.startswith("dtinfo cast: ") for line in lines), "stderr:", lines)
            elif not same:
                require_one_line(done, NO_MEMORY)
            reached = asked >= at
        require(same or reached, "without a failure the answer differs:", words, done.code, done.stderr)
        total += at - 1
    require(completed > (4 if QUICK else 20), "hardly a report was met:", completed)
    require(total > 2 * len(QUESTIONS), "hardly an allocation was made to fail:", total)


@check
def any_one_allocation_may_fail():
    fail_each(5 if QUICK else 1, CLOSELY)


@check
def any_one_allocation_may_fail_with_a_device():
    if not os.path.exists(DEVICE):
        return
    for words, stdin in (("cast 1.5 bf16 -q --device cuda", b""), ("cast - bf16 --from text --as text -q --device cuda", b"1.5 70000")):
        whole = run(words.split(), stdin, environment(DTINFO_LIBCUDA=DEVICE))
        require(whole.code == 0, "no answer:", words, whole.stderr)
        at, asked, met = 0, None, 0
        while asked is None or asked >= at:
            at += 1
            done, asked = failing(words.split(), stdin, at, {"DTINFO_LIBCUDA": DEVICE})
            if asked is not None and done.code != 0:
                require_one_line(done, NO_MEMORY)
                met += 1
            require(asked is None or done.code != 0 or done.stdout == whole.stdout, "another answer:", words, at, done.stdout)
        require(met > 5 and at > 20, "hardly an allocation was made to fail:", words, at, met)


@check
def memory_may_run_out_for_good():
    fail_each(1 if LONG else 11 if QUICK else 3, [], DTI_TEST_FAIL_ON="1")


def write_closely():
    """The files of CLOSELY."""
    names, numbers = ("model.norm.weight", "lm_head.weight"), ([1, 2, 3, 4], normals(8))
    shapes = ([4], [2, 4])
    pathlib.Path("named.safetensors").write_bytes(safetensors(
        [tensor(name, "F32", shape, list_) for name, shape, list_ in zip(names, shapes, numbers)]))
    pathlib.Path("named.gguf").write_bytes(gguf([("general.architecture", "string", "llama")], [
        (name, "F32", shape, pack("F32", list_)) for name, shape, list_ in zip(("output_norm.weight", "output.weight"), shapes, numbers)]))
    pathlib.Path("one_name.txt").write_text(".* -> x\n")
    pathlib.Path("policy.json").write_text('{"rules": [{"files": "*", "dtype": "fp32", "max-abs": 0, /* */ "only": "*"}]}')
    known = json.loads(run("check model.safetensors --policy policy.json --json".split(), b"").stdout)
    known["files"][0]["path_hex"] = b"model.safetensors".hex()
    known["files"][0]["assertions"][0]["failures"] *= 40  # more than are found
    del known["files"][0]["assertions"][1]["failures"][0]
    pathlib.Path("known.json").write_text(json.dumps(known))
    run("cast named.safetensors bf16 --round zero -o cut.safetensors -q".split(), b"")


if __name__ == "__main__":
    if SANITIZED:
        print("skipped: a sanitizer brings its own allocator")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="dtinfo-memory-") as name:
        os.chdir(name)
        for write in (write_single, write_sharded, write_others):
            write(pathlib.Path(name))
        os.mkdir("split")
        run("cast model.gguf fp32 -q -o split/m.gguf --max-shard-size 700".split(), b"")
        os.mkdir("sharded")
        write_sharded(pathlib.Path(name, "sharded"))
        for file in ("torch.pt", "torch_old.pt", "torch_object.pt"):
            shutil.copy(HERE.parent / "data" / file, file)
        pathlib.Path(name, "raw.bin").write_bytes(bytes(range(64)))
        make_gptq("gptq.safetensors", "qzeros=I32:2,4:119", "g_idx=I32:64:0")
        make_gptq("awq.safetensors")
        for file in ("graph.onnx", "external.onnx", "external.data"):
            shutil.copy(DATA / file, file)
        os.mkdir("cache")
        write_single(pathlib.Path(name, "cache"))
        with open("cache/config.json", "w") as file:
            json.dump({"model_type": "lfm2", "dtype": "bfloat16", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 3,
                       "num_key_value_heads": 2, "conv_L_cache": 3, "full_attn_idxs": [1], "max_position_embeddings": 512}, file)
        os.mkdir("mlx")
        make_mlx("mlx/model.safetensors", "a.weight=U32:2,8", "a.scales=BF16:2,1", "a.biases=BF16:2,1",
                 "b.weight=U32:2,8", "b.scales=U8:2,4", "b.global_scale=F32:", "x_blocks=U8:2,3,1,16", "x_scales=U8:2,3,1")
        with open("mlx/config.json", "w") as file:
            json.dump({"quantization": {"bits": 4, "group_size": 64, "b": {"mode": "nvfp4"}, "c": False}}, file)
        os.mkdir("mx")
        make_mlx("mx/model.safetensors", "a.weight_packed=U8:2,16", "a.weight_scale=U8:2,1", "b.weight_packed=U8:2,16",
                 "b.weight_scale=F8_E4M3:2,2/38", "b.weight_global_scale=F32:1/0000803f", "b.input_global_scale=F32:1/0000803f")
        with open("mx/config.json", "w") as file:
            json.dump({"quantization_config": {}}, file)
        os.mkdir("scheme")
        make_mlx("scheme/model.safetensors", "m.q_proj.weight=F8_E4M3:2,16", "m.q_proj.weight_scale=F32:2,1/0000803f",
                 "m.k_proj.weight=F8_E4M3:2,16", "m.k_proj.weight_scale=F32:1/0000803f", "m.o_proj.weight=F8_E4M3:2,16",
                 "m.o_proj.weight_scale=F32:1/0000803f")
        with open("scheme/config.json", "w") as file:
            json.dump({"quantization_config": {"quant_method": "compressed-tensors", "ignore": ["m.o_proj"], "config_groups": {"group_0": {
                "targets": ["Linear"], "weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}}}}, file)
        pathlib.Path("shaped.gguf").write_bytes(gguf([("comfy.gguf.orig_shape.w", ("array", "int32"), [1, 2, 1, 1, 2])],
                                                     [("w", "F32", [2, 2], struct.pack("<4f", 1, 2, 3, 4))]))
        write_model("fused", make_tensors("modelopt", 1, 1), "modelopt", 2)
        write_closely()
        code = main()
        os.chdir("/")
    sys.exit(code)
