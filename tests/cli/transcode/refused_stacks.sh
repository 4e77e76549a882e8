# What a layout has no place for: stacks of experts along another axis, an expert of one row, scales beyond those of fp16
refused() { dtinfo transcode "$@"; echo "exit $?"; }
python3 "$MAKERS/make_mlx.py" floats.safetensors m.experts.down_proj=F32:64,32,16
for axis in 0 -1
do
    dtinfo quant floats.safetensors mxfp4 --axis $axis --pad -o other.safetensors -q --force
    refused other.safetensors --to gpt-oss -o no.safetensors
done
python3 "$MAKERS/make_mlx.py" one.safetensors m.experts.down_proj_blocks=U8:2,1,2,16 m.experts.down_proj_scales=U8:2,1,2/7f
refused one.safetensors --to modelopt -o no.safetensors
python3 "$MAKERS/make_mlx.py" low.safetensors a.weight=U32:1,4 a.scales=BF16:1,1/800d a.biases=BF16:1,1/0000
python3 "$MAKERS/make_mlx.py" high.safetensors a.weight=U32:1,4 a.scales=BF16:1,1/007f a.biases=BF16:1,1/0000
for scale in low high
do
    refused $scale.safetensors --bits 4 --to gguf --set general.architecture=flux -o no.gguf
done
ls no* 2> /dev/null
true
