# a choice for each loader, its plan, and the file that the plan makes; mem agrees on the bytes
python3 "$MAKERS/make_language_model.py" model
dtinfo advise model --fit 17kB -o plan.json
dtinfo quant model --plan plan.json -o small/
dtinfo mem small | sed -n 2,3p
dtinfo advise model --fit 16KiB --menu bf16,mxfp4,nvfp4 --keep '*o_proj*' -v
dtinfo advise model --fit 20kB --loader llama.cpp --menu q8_0,q4_0 -o gguf.json -q
dtinfo quant model --plan gguf.json -o small.gguf 2> /dev/null | head -6
dtinfo mem small.gguf | sed -n 2,3p
dtinfo advise model --fit 18kB --loader comfyui -o comfy.json -q
dtinfo quant model --plan comfy.json -o small.safetensors -q
dtinfo mem small.safetensors | sed -n 2,3p
dtinfo advise model --fit 1MB --loader llama.cpp
dtinfo advise model --fit 18kB --loader llama.cpp --menu stored,q8_0 -o types.txt --as llama-quantize | tail -1
cat types.txt
for form in modelopt compressed-tensors; do
    dtinfo advise model --fit 17kB -o $form.json --as $form | tail -1
    cat $form.json
done
dtinfo advise model --fit 18kB --loader comfyui -o comfyui.json --as comfyui | tail -1
cat comfyui.json
dtinfo advise model --fit 17kB -q
