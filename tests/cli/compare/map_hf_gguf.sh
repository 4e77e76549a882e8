# rows of q and k in the order of llama's rope; a tensor of the GGUF alone; a wrong number; unknown heads
python3 - <<'P'
import os, pathlib, struct, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import gguf, normals, safetensors, tensor
rows = lambda count, seed: [normals(8, seed + i) for i in range(count)]
q, k, norm, embed = rows(16, 1), rows(8, 50), rows(1, 90), rows(4, 100)
flat = lambda x: [number for row in x for number in row]
permuted = lambda x, head: [x[i // head * head + i % 2 * (head // 2) + i % head // 2] for i in range(len(x))]
fp32 = lambda x: struct.pack("<%df" % len(flat(x)), *flat(x))
at = "model.layers.0."
pathlib.Path("hf.safetensors").write_bytes(safetensors([
    tensor("model.embed_tokens.weight", "F32", [4, 8], flat(embed)), tensor(at + "input_layernorm.weight", "F32", [8], flat(norm)),
    tensor(at + "self_attn.q_proj.weight", "F32", [16, 8], flat(q)), tensor(at + "self_attn.k_proj.weight", "F32", [8, 8], flat(k))]))
def write(path, metadata, q):
    pathlib.Path(path).write_bytes(gguf([("general.architecture", "string", "llama")] + metadata, [
        ("token_embd.weight", "F32", [4, 8], fp32(embed)), ("rope_freqs.weight", "F32", [2], struct.pack("<2f", 1, 1)),
        ("blk.0.attn_norm.weight", "F32", [8], fp32(norm)), ("blk.0.attn_q.weight", "F32", [16, 8], fp32(permuted(q, 4))),
        ("blk.0.attn_k.weight", "F32", [8, 8], fp32(permuted(k, 4)))]))
heads = [("llama.attention.head_count", "uint32", 4), ("llama.attention.head_count_kv", "uint32", 2)]
write("m.gguf", heads, q)
write("unknown.gguf", [], q)
q[6] = normals(8, 77)
write("wrong.gguf", heads, q)
P
dtinfo compare hf.safetensors m.gguf --map hf-gguf; echo "exit $?"
dtinfo compare m.gguf hf.safetensors --map hf-gguf --ignore-missing; echo "exit $?"
dtinfo compare hf.safetensors wrong.gguf --map hf-gguf --ignore-missing; echo "exit $?"
dtinfo compare wrong.gguf hf.safetensors --map hf-gguf --ignore-missing; echo "exit $?"
dtinfo compare hf.safetensors unknown.gguf --map hf-gguf --ignore-missing; echo "exit $?"
dtinfo compare hf.safetensors m.gguf --map hf-gguf --json | python3 "$TESTS/json_members.py" .options.map '.tensors[2].a.name' '.tensors[2].b.name' '.tensors[2].heads' .counts
