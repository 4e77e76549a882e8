python3 "$MAKERS/make_checkpoint.py" files --others
dtinfo quant files/weights.npy uint8 -o codes.npy --like torch
ls
dtinfo inspect codes.npy --stats | tail -3
rm codes_zero_point.npy
dtinfo quant files/weights.npy int4 -o codes.npy --force --per channel --axis -1 -q
ls
