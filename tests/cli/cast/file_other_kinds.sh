python3 "$MAKERS/make_checkpoint.py" files --others
dtinfo cast files/weights.npy bf16 -o weights.npy && od -An -tx1 -j 128 weights.npy
dtinfo cast files/deflated.npz bf16 -o arrays.safetensors
dtinfo cast files/model.gguf bf16 -o gguf.safetensors --select '*norm*,token*'
dtinfo cast files/columns.npy int8 -o columns.bin && od -An -td1 columns.bin
dtinfo cast files/columns.npy bf16 --as text
dtinfo cast files/columns.npy bf16 --as text -o text.txt
dtinfo cast columns.bin fp32 --from int8 --shape 2,3 --ints -o raw.npy
dtinfo cast columns.bin fp32 --from int8 --count 6 --ints --as safetensors -o raw.safetensors
dtinfo cast raw.npy fp32 -o - --report 2>report | cmp - raw.npy
cat report
