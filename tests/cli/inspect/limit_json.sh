python3 "$MAKERS/make_checkpoint.py" . --single
dtinfo inspect model.safetensors --limit 2 --stats --json |
    jq -c '.options.limit, (.files[0] | .tensor_count, (.tensors | length), .tensors_not_shown, .totals.tensors, .stats.elements)'
dtinfo inspect model.safetensors --jsonl --limit 1 | jq -c '.files[0] | (.tensors | length), .tensors_not_shown'
dtinfo inspect model.safetensors --json | jq -c '.options.limit, .files[0].tensors_not_shown'
