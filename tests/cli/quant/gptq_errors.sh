# Parts of GPTQ and AWQ that do not fit each other or the configuration: refused by name, and nothing is written.
v1='{"quant_method": "gptq", "bits": 4, "group_size": 32, "checkpoint_format": "gptq"}'
gemm='{"quant_method": "awq", "bits": 4, "group_size": 32, "version": "gemm"}'
run() { dtinfo quant "$@" fp32 --dequant -o out.safetensors -q 2>&1 || echo "exit $?"; }
try() { python3 "$MAKERS/make_gptq.py" gptq.safetensors "$@" && run gptq.safetensors; }
awq() { python3 "$MAKERS/make_gptq.py" awq.safetensors "$@" && run awq.safetensors; }
with() { echo "{\"quant_method\": \"gptq\", \"bits\": ${2-4}, \"group_size\": ${3-32}, $1}"; }
try "$v1" && dtinfo inspect out.safetensors -q && rm out.safetensors
awq "$gemm" && dtinfo inspect out.safetensors -q && rm out.safetensors
echo "# parts"
try "$v1" -scales
try "$v1" -qzeros
try "$v1" scales=F16:2,31
try "$v1" scales=F16:3,32
try "$v1" scales=I32:2,32
try "$v1" scales=F64:2,32
try "$v1" scales=F16:64
try "$v1" scales=F16:1,2,32
try "$v1" qzeros=I32:2,3
try "$v1" qzeros=I32:3,4
try "$v1" qzeros=F16:2,4
try "$v1" qzeros=I32:8
try "$v1" qzeros=I32:2,16
try "$v1" qweight=I32:8,4,8
try "$v1" qweight=I32:256
try "$v1" qzeros=I32:2,3 qweight=I32:7,32
try "$v1" weight=F32:32,64
try "$v1" g_idx=I32:56
try "$v1" g_idx=I32:64,1
try "$v1" g_idx=I64:64
try "$v1" g_idx=I32:64:2
try "$v1" g_idx=I32:64:255
awq "$gemm" -scales
awq "$gemm" qzeros=I32:3,4
awq "$gemm" qzeros=I16:2,4
awq "$gemm" scales=F16:3,32
awq "$gemm" scales=F16:2,24
awq "$gemm" scales=I16:2,32
awq "$gemm" g_idx=I32:64:0
echo "# nothing in them"
try "$v1" qweight=I32:0,32 scales=F16:0,32 qzeros=I32:0,4 -g_idx && rm -f out.safetensors
try qweight=I32:0,32 scales=F16:0,32 qzeros=I32:0,4 -g_idx
try "$v1" qweight=I32:8,0 scales=F16:2,0 qzeros=I32:2,0 && rm -f out.safetensors
try "$v1" qweight=I32:8,32 scales=F16:0,32 qzeros=I32:0,4 -g_idx
awq qweight=I32:0,4 scales=F16:0,32 qzeros=I32:0,4 && rm -f out.safetensors
echo "# the configuration"
try "$(with '"sym": true' 3)"
try "$(with '"sym": true' 4 128)"
try "$(with '"sym": true' 4 16)"
try "$(with '"sym": true' 4 0)"
try "$(with '"sym": true' 4 -1)" && rm -f out.safetensors
for format in gptq_p marlin bitblas gemm other MARLIN; do try "$(with "\"checkpoint_format\": \"$format\"")"; done
try "$(with '"format": "marlin"')"
try "$(with '"is_marlin_format": true')"
try "$(with '"is_marlin_format": "yes"')"
try "$(with '"desc_act": true')" -g_idx
try "$gemm"
awq "$v1"
of() { echo "{\"quant_method\": \"awq\", \"bits\": ${2-4}, \"group_size\": 32, \"version\": \"$1\"}"; }
for version in gemv gemv_fast llm-awq exllama; do awq "$(of "$version")"; done
awq "$(of gemv)" qweight=I32:32,8 qzeros=I32:32,1 scales=F16:32,8
awq "$(of gemv_fast)" qweight=I16:8,64 qzeros=F16:8,32 scales=F16:8,32
awq qweight=I16:8,64 qzeros=F16:8,32 scales=F16:8,32
awq "$(of gemm 8)"
echo "# none that says whether zero points are minus one"
try
echo "# options"
try "$v1" && rm out.safetensors
run gptq.safetensors --bits 4 && rm out.safetensors
run gptq.safetensors --bits 8
run gptq.safetensors --block 32 && rm out.safetensors
run gptq.safetensors --block 16
run gptq.safetensors --layout modelopt
rm -f out.safetensors
python3 "$MAKERS/make_gptq.py" gptq.safetensors "$(with '"sym": true' 3)"
run gptq.safetensors --bits 4 && rm out.safetensors
ls out.safetensors 2>&1
echo "# they are shown as they are stored"
try "$v1" g_idx=I32:64:2
dtinfo inspect gptq.safetensors
dtinfo inspect gptq.safetensors --json | jq -c '.files[].notes'
