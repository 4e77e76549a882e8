python3 "$MAKERS/make_language_model.py" tiny
exec 2>&1
try() { dtinfo "$@" || echo "exit $?"; }
try quant tiny q8_0 -o tiny.gguf --threads 1
dtinfo inspect tiny.gguf
try cast tiny bf16 -o parts.gguf --max-shard-size 8KiB --set general.name=Tiny
ls parts*
dtinfo inspect parts-00002-of-00003.gguf | head -1
try quant tiny q8_0 -o again.gguf --template tiny.gguf --set llama.rope.freq_base=5e5 -q
dtinfo inspect again.gguf | grep freq_base
try quant tiny bf16 -o no.gguf
try quant tiny q8_0 -o no.gguf --keep 'model.embed*'
try quant tiny q8_0 -o no.gguf --select 'nothing*'
sed -i 's/LlamaForCausalLM/MixtralForCausalLM/' tiny/config.json
try quant tiny q8_0 -o no.gguf
sed -i 's/num_hidden_layers/n/' tiny/config.json
try quant tiny q8_0 -o no.gguf --set general.architecture=llama
try quant tiny q8_0 -o no.gguf --set general.architecture=llama --set llama.block_count=1 --dry-run -q
try quant tiny/model.safetensors q8_0 -o no.gguf --set general.architecture=gemma2 --set-from tiny/config.json
ls
