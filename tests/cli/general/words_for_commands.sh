# taken
dtinfo version | head -1
dtinfo -V | head -1
dtinfo version --json | cut -c1-48
exec 2>&1
# words that get a hint
printf x > x.bin
printf x > "$(printf 'a\033[31mb')"
for word in convert astype dequantize diff show dtypes size validate recipe gpu benchmark hex limits man quantize \
    70000 1e5 -1.5 1/3 inf bf16 float16 fp8_e4m3 int x.bin xyzzy "$(printf 'a\033[31mb')"; do
    dtinfo "$word" 1 bf16
done
dtinfo convert --json
dtinfo list bf16
dtinfo list tf33
