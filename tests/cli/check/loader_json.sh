PYTHONPATH="$MAKERS" python3 - <<'EOF'
import json
from tensor_files import write_file
write_file("model.safetensors", {"a.weight": ("F8_E4M3", (2, 32), bytes(64)), "a.weight_scale": ("F32", (), b"\0\0\x80?"),
                                 "n.weight": ("BF16", (32,), bytes(64))})
with open("config.json", "w") as file:
    json.dump({"quantization_config": {"quant_method": "modelopt", "quant_algo": "FP8"}}, file)
EOF
dtinfo check model.safetensors --loader transformers,vllm --max-bits-per-weight 12 --json; echo "exit $?"
