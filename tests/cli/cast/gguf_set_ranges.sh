# the type of integers without a stated type: what holds them all
python3 "$MAKERS/make_language_model.py" tiny
rm tiny/config.json
dtinfo cast tiny/model.safetensors fp16 -o a.gguf -q --set general.architecture=flux --set 'a=[2147483647]' --set 'b=[2147483648]' \
    --set 'c=[4294967295]' --set 'd=[4294967296]' --set 'e=[-2147483648]' --set 'f=[-2147483649]' --set 'g=[-0,4294967295]' 2>&1
dtinfo inspect a.gguf | sed -n '/metadata/,$p'
