python3 "$MAKERS/make_checkpoint.py" . --dduf
dtinfo inspect model.dduf
dtinfo cast model.dduf bf16 -o half.dduf
dtinfo inspect half.dduf -v
dtinfo check half.dduf
python3 -c '
import zipfile
for member in zipfile.ZipFile("half.dduf").infolist():
    print(member.filename, member.compress_type, member.file_size)'
dtinfo cast model.dduf bf16 -o joined.safetensors && dtinfo inspect joined.safetensors
cp half.dduf damaged.dduf
printf '\377' | dd of=damaged.dduf bs=1 seek=70 conv=notrunc 2>/dev/null
dtinfo check damaged.dduf; echo "exit $?"
dtinfo cast damaged.dduf fp32 -o out.dduf 2>&1; echo "exit $?"
dtinfo cast joined.safetensors fp32 -o out.dduf 2>&1; echo "exit $?"
dtinfo quant model.dduf int8 -o out.dduf 2>&1; echo "exit $?"
dtinfo cast model.dduf fp8_e4m3fn --only 'unet/*' -o - | wc -c
