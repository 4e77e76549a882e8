# A model that is called .gguf has parts, too: in any folder they end in .gguf, and they are old ones of the next model of that name
python3 "$MAKERS/make_mlx.py" in.safetensors a.weight=F32:64,32 b.weight=F32:64,32
run() { dtinfo cast in.safetensors fp32 --set general.architecture=flux -q "$@"; echo "exit $?"; }
mkdir folder
for path in .gguf folder/.gguf
do
    run -o "$path" --max-shard-size 9KiB
    run -o "$path"
    (cd "$(dirname "$path")" && ls -- *.gguf)
    run -o "$path" --force
done
ls -A . folder
