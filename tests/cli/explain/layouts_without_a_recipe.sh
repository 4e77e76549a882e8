# layouts that are read, but that no recipe writes
for name in awq torchao gpt_oss; do
    dtinfo explain "$TESTS/../data/${name}_numbers.safetensors" "$TESTS/../data/$name.safetensors"; echo "exit $?"
done
