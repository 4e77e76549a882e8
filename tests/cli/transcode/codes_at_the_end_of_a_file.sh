# codes that end where the file ends: no row of words is read after the last one
mkdir last
python3 "$MAKERS/make_gptq.py" last/model.safetensors \
    '{"quant_method": "gptq", "bits": 4, "group_size": 32, "checkpoint_format": "gptq"}' -g_idx -qweight qweight=I32:8,32 qzeros=I32:2,4:7
dtinfo transcode last --to awq -o lanes
dtinfo compare last/model.safetensors lanes/model.safetensors
