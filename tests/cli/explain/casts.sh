# routes, policies and kept tensors; of equal bytes the simplest recipe; shards and a single file
python3 "$MAKERS/make_checkpoint.py" model
python3 "$MAKERS/make_checkpoint.py" single --single
dtinfo explain model single/model.safetensors
dtinfo cast model bf16 --keep '*norm*' -o half -q
dtinfo explain model half
dtinfo cast model fp8_e5m2 --via bf16 --overflow saturate -o eight.safetensors -q
dtinfo explain single/model.safetensors eight.safetensors
dtinfo cast model fp16 --round stochastic --select '*proj*' -o random.safetensors -q
dtinfo explain model random.safetensors
