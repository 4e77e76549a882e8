python3 "$MAKERS/make_checkpoint.py" model --single
dtinfo cast model/model.safetensors fp32 -o wide.npy --select model.norm.weight
dtinfo cast model/model.safetensors fp8_e8m0 -o scale.safetensors --only '*norm*,*v_proj*' --fail-on underflow || echo "exit $?"
dtinfo cast model/model.safetensors int8 -o int8.safetensors
dtinfo cast model/model.safetensors bf16 -o stochastic.safetensors --round stochastic --seed 7 --only '*norm*'
dtinfo cast model/model.safetensors fp8_e4m3fn -o like.safetensors --like torch --only '*norm*'
dtinfo cast model/model.safetensors bf16 -o via.safetensors --via fp16 --only '*norm*'
ls
