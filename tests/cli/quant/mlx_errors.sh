# Parts and configurations that do not fit each other: refused in one line, and nothing is written.
rm -f config.json
q() { dtinfo quant bad.safetensors fp32 --dequant -o out.safetensors -q "$@" 2>&1 || echo "exit $?"; }
try() {
    python3 "$MAKERS/make_mlx.py" bad.safetensors "$@"
    q
}
said() { printf '%s' "$1" >config.json; q; rm config.json; }
words=a.weight=U32:2,8 scales=a.scales=BF16:2,1 biases=a.biases=BF16:2,1
echo "# parts"
try $words
try $words $biases
try $words $scales
try $words $scales a.biases=F16:2,1
try $words $scales a.biases=BF16:2,2
try $words $scales a.biases=BF16:3,1
try $words a.scales=BF16:3,1 a.biases=BF16:3,1
try $words a.scales=BF16:1 a.biases=BF16:1
try $words a.scales=BF16:2,3 a.biases=BF16:2,3
try $words a.scales=BF16:2,0 a.biases=BF16:2,0
try $words a.scales=BF16:2,8 a.biases=BF16:2,8
try $words a.scales=F64:2,1 a.biases=F64:2,1
try $words a.scales=U8:2,8
try $words a.scales=U8:2,2 $biases
try $words a.scales=U8:2,2 a.global_scale=F32:
try $words a.scales=U8:2,4 a.global_scale=F32:2
try $words a.scales=U8:2,4 a.global_scale=I32:
try a.weight=U32:8 a.scales=BF16:1 a.biases=BF16:1
try $words $scales $biases $scales
try a.weight=U32:0,576460752303423488 a.scales=BF16:0,1 a.biases=BF16:0,1
try a.weight=U32:0,18014398509481984 a.scales=U8:0,4503599627370496 && rm out.safetensors
echo "# what shapes leave open"
try $words $scales $biases
q --bits 5
q --bits 4 --block 128
q --block 16
q --bits 16
try a.weight=U32:2,3 a.scales=F32:2,1 a.biases=F32:2,1 && dtinfo inspect out.safetensors && rm out.safetensors
try a.weight=U32:2,0 a.scales=F32:2,0 a.biases=F32:2,0 && dtinfo inspect out.safetensors && rm out.safetensors
echo "# configurations"
try $words $scales $biases >/dev/null
said '{"quantization": {"group_size": 64, "bits": 8}}'
said '{"quantization": {"group_size": 64, "bits": 4, "mode": "mxfp4"}}'
said '{"quantization": {"group_size": 64, "bits": 7, "a": {"bits": 8, "group_size": 64}}}'
said '{"quantization": {"group_size": 64, "bits": 4, "a": false}}'
said '{"quantization": {"group_size": 64, "bits": 4, "a": {"bits": "4"}}}'
said '{"quantization": {"group_size": 64, "bits": 4, "a": {"bits": 99}}}'
said '{"quantization": {"group_size": 64, "bits": 4, "a": {"group_size": 6.4}}}'
said '{"quantization": {"group_size": 64, "bits": 4, "a": {"bits": 4, "mode": 3}}}'
said '{"quantization": {"group_size": 64, "bits": 4, "mode": "\u001b[31m"}}'
said '{"quantization": [64, 4]}'
echo '{"quantization": {"bits": 3, "group_size": []' >config.json
q --bits 4 && dtinfo inspect out.safetensors -q && rm out.safetensors config.json
said '{"quantization": {"group_size": 64, "bits": 4, "a": {"bits": 4'
ls out.safetensors 2>&1
echo "# a module that is there twice is refused, true says nothing, and a path of a module has its own defaults"
said '{"quantization": {"group_size": 32, "bits": 4, "a": {"bits": 8, "group_size": 64}, "a": {"bits": 4}, "b": true}}'
said '{"quantization": {"group_size": 32, "bits": 8, "a": true, "b": {"bits": 4}}}'
ls out.safetensors && rm out.safetensors
try $words a.scales=U8:2,2 && rm out.safetensors
said '{"quantization": {"group_size": 64, "bits": 4}}'
said '{"quantization": {"group_size": 32, "bits": 4, "mode": "nvfp4"}}'
q --bits 8
q --block 16
echo "# they are shown as they are stored"
try $words $scales $biases >/dev/null
dtinfo inspect bad.safetensors
echo "# gpt-oss"
blocks=x_blocks=U8:2,3,1,16
try $blocks
try $blocks x_scales=U8:2,3
try $blocks x_scales=U8:2,3,2
try $blocks x_scales=F32:2,3,1
try $blocks x_scales=U8:2,3,1 x=F32:1
try x_blocks=U8:0,3,1152921504606846976,16 x_scales=U8:0,3,1152921504606846976
try x_blocks=U8:2,3,1,8 x_scales=U8:2,3,1
try $blocks x_scales=U8:2,3,1 && dtinfo inspect out.safetensors -q && rm out.safetensors
q --bits 8
q --block 16
said '{"quantization_config": {"quant_method": "gptq", "bits": 4}}'
said '{"quantization_config": {"quant_method": "mxfp4"}}'
ls out.safetensors && rm out.safetensors
try x_blocks=U8:0,3,1,16 x_scales=U8:0,3,1 && dtinfo inspect out.safetensors -q
