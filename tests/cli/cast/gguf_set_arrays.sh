# Arrays of a file of keys: -0 is no negative number, and an element that the stated type lacks is refused.
exec 2>&1
python3 "$MAKERS/make_language_model.py" tiny
rm tiny/config.json
keys() {
    echo "$1" > keys.json
    dtinfo cast tiny/model.safetensors fp16 -o a.gguf -q --force --set general.architecture=flux --set-from keys.json; echo "exit $?"
}
keys '{"a": [-0, 4294967295], "b": [-1, 4294967295], "c:arr[u8]": [1, 255]}'
dtinfo inspect a.gguf | grep array
keys '{"c:arr[u8]": [1, 256]}'
