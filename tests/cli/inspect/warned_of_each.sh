# warnings of one kind are one note, which counts the tensors; another kind has its own
cat > config.json <<'C'
{"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 32, "checkpoint_format": "gptq"}}
C
set --
for name in a b c d; do
    case $name in a | c | d) zeros=88;; *) zeros=f7;; esac
    set -- "$@" $name.qweight=I32:8,32 $name.qzeros=I32:2,4/$zeros $name.scales=F16:2,32/003c
done
python3 "$MAKERS/make_mlx.py" model.safetensors "$@"
dtinfo inspect model.safetensors 2>&1
