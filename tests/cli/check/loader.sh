# What programs do with models: one folder a layout, with its config.json.
make() {
    PYTHONPATH="$MAKERS" python3 - "$@" <<'EOF'
import json, os, sys
from tensor_files import write_file
case, tensors, method = sys.argv[1], {"norm.weight": ("BF16", (32,), bytes(64))}, {}
def part(name, dtype, shape, fill=b"\x3c"):
    count = 1
    for side in shape:
        count *= side
    size = {"F32": 4, "I32": 4, "BF16": 2, "F16": 2}.get(dtype, 1)
    tensors[name] = (dtype, shape, (fill * (count * size))[:count * size])
os.makedirs(case, exist_ok=True)
if case == "plain":
    part("a.weight", "BF16", (32, 32))
if case == "wide":
    part("a.weight", "F8_E8M0", (32, 32))
if case in ("fp8", "fp8_inputs"):
    method = {"quantization_config": {"quant_method": "modelopt", "quant_algo": "FP8", "ignore": []}}
    for name in "ab":
        part(name + ".weight", "F8_E4M3", (32, 32))
        part(name + ".weight_scale", "F32", ())
        if case == "fp8_inputs":
            part(name + ".input_scale", "F32", ())
if case.startswith("nvfp4"): # with activations of 16 bits there is no scale of them
    algorithm = {"nvfp4": "NVFP4", "nvfp4_16": "W4A16_NVFP4"}[case]
    method = {"quantization_config": {"quant_method": "modelopt", "quant_algo": algorithm, "group_size": 16, "ignore": []}}
    part("a.weight", "U8", (32, 16))
    part("a.weight_scale", "F8_E4M3", (32, 2))
    part("a.weight_scale_2", "F32", ())
if case == "int8":
    method = {"quantization_config": {"quant_method": "modelopt", "quant_algo": "INT8_SQ", "ignore": []}}
    part("a.weight", "I8", (32, 32))
    part("a.weight_scale", "F32", ())
if case.startswith("blocks"): # as ModelOpt stores them, or in two dimensions, or in a mixture
    algorithm, layers = "FP8_PB_WO", {}
    if case == "blocks_mixed":
        algorithm, layers = "MIXED_PRECISION", {"quantized_layers": {"a": {"quant_algo": "FP8_PB_WO"}}}
    method = {"quantization_config": {"quant_method": "modelopt", "quant_algo": algorithm, **layers}}
    part("a.weight", "F8_E4M3", (256, 128))
    part("a.weight_scale", "F32", (2, 1) if case == "blocks_flat" else (2, 1, 1, 1))
if case == "exl3":
    method = {"quantization_config": {"quant_method": "exl3", "bits": 4}}
    part("a.trellis", "I32", (2, 2, 32))
    part("a.suh", "F16", (32,))
    part("a.svh", "F16", (32,))
with open(case + "/config.json", "w") as file:
    json.dump({"model_type": "llama", **method}, file)
write_file(case + "/model.safetensors", tensors)
EOF
}
for case in plain wide fp8 fp8_inputs nvfp4 nvfp4_16 int8 exl3; do
    make $case
    dtinfo check $case/model.safetensors --loader vllm,transformers,llama.cpp,comfyui,mlx; echo "exit $?"
done
for case in blocks blocks_flat blocks_mixed; do
    make $case
    dtinfo check $case --quantized --loader vllm; echo "exit $?"
done
# ModelOpt's configuration without an algorithm, in either file
echo '{"quantization_config": {"quant_method": "modelopt", "ignore": []}}' > fp8_inputs/config.json
dtinfo check fp8_inputs/model.safetensors --loader vllm; echo "exit $?"
echo '{"model_type": "llama"}' > fp8_inputs/config.json
echo '{"producer": {"name": "modelopt"}, "quantization": {"quant_algo": null}}' > fp8_inputs/hf_quant_config.json
dtinfo check fp8_inputs/model.safetensors --loader vllm; echo "exit $?"
echo '{"quantization_config": {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {}}}' > fp8_inputs/config.json
rm fp8_inputs/hf_quant_config.json
dtinfo check fp8_inputs/model.safetensors --loader vllm; echo "exit $?"
rm fp8/config.json
dtinfo check fp8/model.safetensors --loader vllm,transformers; echo "exit $?"
# releases
dtinfo cast plain/model.safetensors fp16 -o m.gguf -q --set general.architecture=flux
dtinfo check m.gguf --loader llama.cpp,transformers,vllm; echo "exit $?"
dtinfo check m.gguf --loader llama.cpp=b1169,llama.cpp=1170,vllm=0.5.4,vllm=0.12,vllm=0.24; echo "exit $?"
