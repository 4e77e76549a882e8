try() {
    dtinfo quant "$@"
    echo "$?"
}
try
try int8
try 1
try int8 1
try int8 int4
try 1 2 int8 int4
try 1 bf17
try 1 mxfp5
try 1 mxfp8
try 1 fp8
try 1 bf16
try 1 int32
try 1 fp8_e8m0
try 1 int8,
try 7,5 int8
try ./none int8
try 1 - int8
try 1 int8 --scale 0
try 1 int8 --scale -1
try 1 int8 --scale nan
try 1 int8 --scale 1e-60
try 1 int8 --scale x
try 1 int8 --min x
try 1 int8 --min inf
try 1 int8 --min 3 --max 2
try 1 int8 --min 3
try 1 int8 --max -3
try 1 int8 --zero-point 1
try 1 int8 --scale 1 --zero-point 128
try 1 int8 --scale 1 --zero-point 1.5
try 1 uint4 --scale 1 --zero-point -1
try 1 int8 --scale 1 --zero-point 1 --symmetric
try 1 int8 --scale 1 --min 1
try 1 int8 --scale 1 --affine
try 1 int8 --symmetric --affine
try 1 int8 --symmetry half --affine
try 1 int8 --like torch --division true
try 1 int8 --like torch --symmetry half
try 1 int8 --like numpy
try 1 int8 --mx-scale ceil
try 1 int8 --tensor-scale none
try 1 mxfp4 --nv-scale four-six
try 1 int8 --nibble high
try 1 int8 --per block
try 1 int8 --per tensor --block 2
try 1 int8 --per channel
try 1 int8 --axis 0
try 1 int8 --pad
try 1 int8 --block 0
try 1 int8 --block 2 --scale 1
try 1 int8 -o out.npy
try 1 int8 --keep x
try 1 mxfp4 --scale 1
try 1 mxfp4 --like torch
try 1 mxfp4 --division true
try 1 mxfp4 --symmetric
try 1 nvfp4 --tensor-scale 0
try 1 fp8_e4m3fn --affine
try 1 fp4_e2m1 --scale 1 --zero-point 0
