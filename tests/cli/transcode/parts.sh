# translating in parts: the bytes of one run
python3 "$MAKERS/make_checkpoint.py" model
echo '{"model_type": "llama", "rms_norm_eps": 1e-05}' > model/config.json
dtinfo quant model mxfp4 --keep '*norm*,*embed*,*head*,*down*' -o in -q
dtinfo transcode in --to modelopt --dtype nvfp4 -o one -q
dtinfo transcode in --to modelopt --dtype nvfp4 -o out --part 2/2 --json | jq -c '[.part, .finish, .totals.tensors]'
dtinfo transcode in --to modelopt --dtype nvfp4 -o out --finish
dtinfo transcode in --to modelopt --dtype nvfp4 -o out --part 1/2 --width 78
dtinfo transcode in --to modelopt --dtype nvfp4 -o out --finish --width 78
diff -r one out && echo same
dtinfo transcode in --to bf16 -o plain -q
dtinfo transcode in --to bf16 -o parts -q --part 1/2
dtinfo transcode in --to bf16 -o parts -q --part 2/2
dtinfo transcode in --to bf16 -o parts -q --finish
diff -r plain parts && echo same
