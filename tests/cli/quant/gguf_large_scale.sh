# blocks whose scale fp16 has no room for, of either sign, with and without statistics; and one with room
exec 2>&1
for number in 20bcbe4c 20bcbecc 00247449; do # 1e8, -1e8, 1e6
    python3 "$MAKERS/make_mlx.py" in.safetensors a.weight=F32:1,32/"$(printf "$number%.0s" $(seq 32))"
    for quiet in '' -q; do
        dtinfo quant in.safetensors q8_0 -o out.gguf --force --set general.architecture=flux --type '*=q8_0' --threads 1 $quiet || echo "exit $?"
        [ ! -e out.gguf ] || echo written
        rm -f out.gguf
    done
done
