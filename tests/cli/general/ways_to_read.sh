# the same bytes and figures, whichever way
python3 "$MAKERS/make_checkpoint.py" . --single
for way in auto map copy; do
    echo "$way"
    DTINFO_READ=$way dtinfo inspect --stats model.safetensors | cksum
    DTINFO_READ=$way dtinfo cast model.safetensors bf16 -o - -q | cksum
    DTINFO_READ=$way dtinfo quant model.safetensors int8 -o $way.safetensors -q
    DTINFO_READ=$way dtinfo compare auto.safetensors $way.safetensors -q && echo same
done
DTINFO_READ=disk dtinfo inspect model.safetensors
