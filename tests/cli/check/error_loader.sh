printf '\10\0\0\0\0\0\0\0{}      ' > m.safetensors
for words in '--loader sglang' '--loader vllm,' '--loader vllm=new' '--loader vllm=' '--loader vllm --raw' '--max-bits-per-weight 4,6' \
    '--max-bits-per-weight .5' '--max-bits-per-weight 4.' '--max-bits-per-weight 1234567890123456789' '--max-bits-per-weight 4 --raw'; do
    # shellcheck disable=SC2086 # several words
    dtinfo check m.safetensors $words 2>&1; echo "exit $?"
done
dtinfo check m.safetensors --max-bits-per-weight 0 --loader comfyui; echo "exit $?"
