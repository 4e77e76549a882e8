# what cannot be translated is refused by name, and nothing is left
run() { dtinfo transcode "$@"; echo "exit $?"; }
data="$TESTS/../data"
cp "$data/bitsandbytes.safetensors" "$data/comfy.safetensors" "$data/torchao.safetensors" .
python3 "$MAKERS/make_checkpoint.py" . --others --single
python3 "$MAKERS/make_mlx.py" mx.safetensors a.weight_packed=U8:2,16 a.weight_scale=U8:2,1 b.weight=F32:2
for file in bitsandbytes comfy torchao mx
do
    run $file.safetensors --to deepseek -o out.safetensors
done
run bitsandbytes.safetensors --to compressed-tensors -o out.safetensors
run comfy.safetensors --to modelopt --dtype nvfp4 -o out.safetensors
run model.gguf --to compressed-tensors -o out.safetensors
run model.safetensors --to compressed-tensors -o out.safetensors
run mx.safetensors --to compressed-tensors -o out.npy
run mx.safetensors --to compressed-tensors -o out.gguf
echo "names that are taken, parts that are missing:"
python3 "$MAKERS/make_mlx.py" taken.safetensors a=U8:2,16 a_scale=F8_E4M3:2,2/38 a_scale_2=F32:/0000003f a_packed=F32:2
run taken.safetensors --to compressed-tensors -o out.safetensors
run taken.safetensors --to compressed-tensors -o out.safetensors --select a --dry-run -q
python3 "$MAKERS/make_mlx.py" lone.safetensors a.weight_packed=U8:2,16
run lone.safetensors --to modelopt -o out.safetensors
echo "padded rows, an axis that is not the last:"
python3 "$MAKERS/make_mlx.py" padded.safetensors a_packed=U8:2,16 a_scale=U8:2,1 a_shape=I64:2/02000000000000001f00000000000000
run padded.safetensors --to modelopt -o out.safetensors
python3 "$MAKERS/make_mlx.py" down.safetensors a=F8_E4M3:64,3 a_scale=U8:2,3
run down.safetensors --to modelopt -o out.safetensors
echo "no elements:"
python3 "$MAKERS/make_mlx.py" empty.safetensors a=F8_E4M3:0,32 a_scale=U8:0,1 b_packed=U8:0,16 b_scale=U8:0,1
run empty.safetensors --to compressed-tensors -o empty_ct.safetensors
run empty_ct.safetensors --to modelopt --dtype nvfp4 -o empty_nv.safetensors --only b
echo "options:"
run mx.safetensors -o out.safetensors
run mx.safetensors --to gguf -o out.safetensors
run mx.safetensors --to compressed-tensors
run --to compressed-tensors -o out.safetensors
run mx.safetensors more --to compressed-tensors -o out.safetensors
run mx.safetensors --to bf16 --dtype nvfp4 -o out.safetensors
run mx.safetensors --to bf16 --require-lossless -o out.safetensors
run mx.safetensors --to deepseek --dtype nvfp4 -o out.safetensors
run mx.safetensors --to compressed-tensors -o out.safetensors --only 'weight'
run mx.safetensors --to bf16 -o out.safetensors --only 'weight'
run mx.safetensors --to compressed-tensors -o mx.safetensors --force
run none.safetensors --to compressed-tensors -o out.safetensors
run - --to compressed-tensors -o out.safetensors
ls out* 2> /dev/null
echo "patterns name numbers or parts:"
run mx.safetensors --to modelopt -o one.safetensors --select a.weight
run mx.safetensors --to modelopt -o two.safetensors --keep '*_packed'
run mx.safetensors --to modelopt -o three.safetensors --only nothing --allow-unmatched
