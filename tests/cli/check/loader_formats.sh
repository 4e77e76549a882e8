# Mixtures of compressed-tensors: vLLM goes by the format of the group, else by that of all.
PYTHONPATH="$MAKERS" python3 - <<'END'
from tensor_files import write_file
write_file("m.safetensors", {name + ".weight": ("BF16", (64, 64), b"\x80\x3f" * 4096) for name in "abcd"})
END
mkdir m && mv m.safetensors m/ && echo '{"model_type": "llama"}' > m/config.json
dtinfo quant m fp8_e4m3fn --per channel --type 'b*=int4,c*=nvfp4,d*=mxfp8_e4m3' -o q -q
try() {
    python3 - "$@" <<'END'
import json, sys
config = json.load(open("q/config.json"))
whole = config["quantization_config"]
exec(sys.argv[1], {"whole": whole, "groups": whole["config_groups"].values()})
json.dump(config, open("t/config.json", "w"))
END
    echo "$1"; dtinfo check t --loader "${2:-vllm}" 2>&1; echo "exit $?"
}
cp -r q t
try '' vllm,vllm=0.12,transformers
try '[group.pop("format") for group in groups]' vllm,transformers
try '[group.pop("format") for group in groups]; whole["format"] = "pack-quantized"' vllm,transformers
try '[group.pop("format") for group in groups]; del whole["format"]'
try 'first = list(groups)[0]; first["targets"] = ["Linear"]; whole["config_groups"]["z"] = {**first, "targets": ["Conv1d"], "format": "int-quantized"}'
try '[group["weights"].update(actorder="group") for group in list(groups)[:2]]'
