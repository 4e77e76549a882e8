# addresses that are refused before anything is sent
exec 2>&1
ask() { dtinfo "$@"; echo "exit $?"; }
ask inspect http://example.com/model.safetensors
ask inspect https://user:secret@example.com/model.safetensors
ask inspect https:///model.safetensors
ask inspect 'https://example.com:99999/model.safetensors?X-Signature=secret'
ask inspect https://0x7f.1/model.safetensors
ask mem hf://org
ask cast hf://org/../model.safetensors bf16 --dry-run
ask quant hf://datasets/org/name/x.safetensors int8 --dry-run
ask compare 'https://example.com/x?a=1' 'https://example.com/x?a=2'
cp "$TESTS/../../docs/sample/model.safetensors" .
ask cast model.safetensors bf16 -o https://example.com/x.safetensors
ask https://example.com/model.safetensors
ask inspect ftp://example.com/model.safetensors
