# the cache of a GGUF: the period of layers that keep all tokens, and the longest context, are those of its key-values
python3 - <<'P'
import os, pathlib, struct, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import gguf
numbers = dict(block_count=7, context_length=8192, embedding_length=64)
numbers.update({"attention.head_count": 8, "attention.head_count_kv": 4, "attention.key_length": 128, "attention.sliding_window": 1024,
                "attention.sliding_window_pattern": 3})
pairs = [("gemma3." + name, "uint32", number) for name, number in numbers.items()]
pathlib.Path("m.gguf").write_bytes(gguf([("general.architecture", "string", "gemma3")] + pairs,
                                        [("output_norm.weight", "F32", [1], struct.pack("<f", 1))]))
P
dtinfo mem m.gguf --kv-dtype fp16 -v
dtinfo mem m.gguf --context 16k --kv-dtype fp16 -q 2>&1
