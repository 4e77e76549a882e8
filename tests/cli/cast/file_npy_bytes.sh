# numpy has no such dtypes: the line of Python that reads the file back.
python3 "$MAKERS/make_checkpoint.py" files --others
try() { dtinfo cast files/weights.npy "$@" 2>&1 | grep -a numpy; }
try bf16 -o a.npy
try fp8_e5m2 -o "it's.npy"
try e3m4fn -o c.npy
try fp16 -o d.npy
try bf16 -o - --as npy
dtinfo cast a.npy bf16 --assume bf16 -o same.npy 2>&1 | grep numpy
try fp4_e2m1 -o e.npy -q
dtinfo quant files/weights.npy int8 -o codes.npy -q
dtinfo quant codes.npy bf16 --dequant -o back.npy 2>&1 | grep numpy
