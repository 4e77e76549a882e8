python3 "$MAKERS/make_language_model.py" tiny
rm tiny/config.json
exec 2>&1
try() { dtinfo cast tiny/model.safetensors fp16 "$@" || echo "exit $?"; }
try -o a.gguf -q
try -o a.gguf -q --set general.architecture=flux --set a=1 --set b:u8=255 --set c=1.5 --set 'd=[1,2]' --set e:str=5 --set f=true
dtinfo inspect a.gguf | sed -n '/metadata/,$p'
echo '{"general.name": "x", "a:i64": -5, "g:arr[f32]": [1, 0.1]}' > keys.json
dtinfo cast a.gguf fp16 -o b.gguf -q --set-from keys.json --set general.alignment=64
dtinfo inspect b.gguf | sed -n '/metadata/,$p'
try -o c.gguf --set general.architecture=brand_new
for key in a a: a:u9=1 b:u8=256 b:u8=-1 b:u8=1.5 c=1 general.alignment=5 split.count=1 'l=[]' 'l=[1,"a"]' 'general.name:arr[str]=["a'; do
    try -o d.gguf --set general.architecture=flux --set c=2 --set "$key"
done
for text in '{' '[]' '{"a": null}' '{"a": {}}' '{"a": 1, "a": 2}' '{"a:u8": "1"}'; do
    echo "$text" > wrong.json
    try -o d.gguf --set general.architecture=flux --set-from wrong.json
done
try -o d.safetensors --set a=1
try -o d.npz --set-from keys.json
dtinfo cast 1 bf16 --set a=1
ls
