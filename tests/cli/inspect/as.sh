python3 "$MAKERS/make_checkpoint.py" model --single
python3 "$MAKERS/make_checkpoint.py" . --others
dtinfo inspect model/model.safetensors --as fp4_e2m1,fp8_e4m3fn,bf16 --only '*layers.0*proj*,*ids' --sort name
dtinfo inspect weights.npy --as int8 --stats --threads 2
dtinfo inspect model.gguf --as fp16 -v
dtinfo inspect weights.npy --as e4m3,bf16 --json
