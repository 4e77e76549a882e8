# what newcomers get wrong in commands about values: every line names the thing and the remedy
. "$TESTS/mistakes.sh"
try <<'EOF'
cast
cast 1
cast bf16
cast bf16 70000
cast 70000
cast 70000 bf61
cast 70000 bfloat
cast 70000 fp
cast 70000 fp8
cast 70000 f8
cast 70000 float
cast 70000 fp16 bf16
cast 70000, bf16
cast 70000 ,bf16
cast 70000 bf16,
cast 70000 'fp16, bf16'
cast 1e bf16
cast 1e400000000000 bf16
cast 0x bf16
cast 0xzz bf16
cast 0b102 bf16
cast 1_000_ bf16
cast 1__0 bf16
cast 1.5.2 bf16
cast 1,5 bf16
cast 70.000,5 bf16
cast '7 0' bf16
cast ' 1' bf16
cast 1/0 bf16
cast 1/3/5 bf16
cast pi bf16
cast 2^10 bf16
cast 2**10 bf16
cast 1+1 bf16
cast 50% bf16
cast 7B bf16
cast 1k bf16
cast 1GiB bf16
cast 1.5f bf16
cast 3.0L fp32
cast NaN int8
cast infinity uint8
cast inff bf16
cast true bool
cast None fp32
cast '' bf16
cast - bf16
cast 1 mxfp4
cast 1 nf4
cast 1 int0
cast 1 uint65
cast 1 complex
cast 1+2j complex64
cast 1j fp32
cast 1 fp16 --round
cast 1 fp16 --round up-ish
cast 1 fp16 --round=
cast 1 fp16 --rounding up
cast 1 fp16 --saturate
cast 1 fp16 --overflow error
cast 1 fp16 --like tensorflow
cast 1 fp16 --like torch --round up
cast 1 fp16 --via
cast 1 fp16 --via fp99
cast 1 fp16 --seed -1
cast 1 fp16 --seed 7
cast 1 fp16 --digits many
cast 1 fp16 --digits -3
cast 1 fp16 --fail-on loss
cast 1 fp16 -o out.bin
cast 1 fp16 --from fp32
cast 1 fp16 --json --jsonl
cast 1 fp16 -q -v
cast 1 fp16 -x
cast 1 fp16 --to bf16
cast 1 fp16 --dtype bf16
cast 1 all all
cast 1 'all,bf16'
cast --value 1 fp16
bits
bits 0x
bits 0x12
bits 0x12 fp16
bits 0x12345 fp16
bits 0b12 int8
bits 0b101 fp16
bits 3f80 fp32
bits 1.5
bits 1.5 bf61
bits bf16 1.5
bits 0x1ff fp8_e4m3fn
bits 0x3c00 fp16,bf16
bits 0x3c00 fp16 bf16
bits --hex 0x3c00 fp16
finfo int8
finfo bool
finfo fp16 int8
finfo bf-16
finfo bf_16
finfo b16
finfo 16
finfo fp16.max
finfo max fp16
finfo mxfp4
finfo --style tensorflow fp16
finfo bf16 --style numpy
finfo e5m2fnu
finfo e99m1
finfo e0m7
iinfo fp16
iinfo int128
iinfo int
iinfo uint
iinfo i32 u32 f32
info
info max
list bf16
list --alias
list --sort
quant
quant 1
quant int8
quant 1 2 3
quant int8 1 2 3
quant 1 2 3 int8 int4
quant 1 2 3 int32
quant 1 2 3 bf16
quant 1 2 3 fp8
quant 1 2 3 mxfp8
quant 1 2 3 q4
quant 1 2 3 q4_k
quant 1 2 3 int8 --asymmetric
quant 1 2 3 int8 --scale 0
quant 1 2 3 int8 --scale -1
quant 1 2 3 int8 --zero-point 3
quant 1 2 3 int8 --min 5 --max 1
quant 1 2 3 int8 --group-size 32
quant 1 2 3 int8 --per-channel
quant 1 2 3 int8 --per channel
quant 1 2 3 int8 --bits 4
quant 1 2 3 int8 --like tensorrt
quant 1 2 3 mxfp4 --block 16
quant 1,2,3 int8
mem
mem bf16
mem 7
mem 7b
mem 7GB bf16
mem 7G
mem 7 B
mem 1.5 bf16
mem -7B bf16
mem 0 bf16
mem 32x bf16
mem x32 bf16
mem 32*1024 bf16
mem '(4, 8)' bf16
mem 4,8,20 fp99
mem bf16 7B
mem 7B --fit 24
mem 7B --fit 24G
mem 7B --fit gpu
mem 7B --fit
mem 7B --train adamax
mem 7B --train
mem 7B --optimizer adam
mem 7B --states fp32
mem llama-7b
EOF
