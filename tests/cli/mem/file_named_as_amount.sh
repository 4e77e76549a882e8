python3 "$MAKERS/make_checkpoint.py" . --others
cp weights.npy 7B
cp weights.npy bf16
dtinfo mem ./7B fp16 -q
dtinfo mem --input 7B bf16 -q
dtinfo mem 7B ./bf16 fp16 -q
