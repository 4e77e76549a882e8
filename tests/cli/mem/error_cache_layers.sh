# an attention layer that there is not; more kinds of layers than are kept apart
exec 2>&1
printf '{"model_type": "lfm2", "dtype": "bfloat16", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 3,
 "num_key_value_heads": 2, "conv_L_cache": 3, "full_attn_idxs": [1, 3]}' > config.json
dtinfo mem config.json --context 1k; echo "exit $?"
python3 - <<'P'
import os, pathlib, struct, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import gguf
for layers in (64, 65):
    numbers = {"block_count": layers, "attention.head_count": 128, "attention.key_length": 16}
    pairs = [("llama." + name, "uint32", number) for name, number in numbers.items()]
    pairs.append(("llama.attention.head_count_kv", ("array", "uint32"), list(range(1, layers + 1))))
    pathlib.Path("m%d.gguf" % layers).write_bytes(gguf([("general.architecture", "string", "llama")] + pairs,
                                                      [("output_norm.weight", "F32", [1], struct.pack("<f", 1))]))
P
dtinfo mem m64.gguf --context 1k --kv-dtype fp16 -q; echo "exit $?"
dtinfo mem m65.gguf --context 1k --kv-dtype fp16 -q; echo "exit $?"
