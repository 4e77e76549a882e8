python3 "$MAKERS/make_checkpoint.py" model --single --others
cat > policy.json <<'P'
// What a release needs.
{ "$schema": "check-policy.schema.json",
  "rules": [
    { "files": "*.safetensors", "valid": true, "no-nan": true, "fits": "fp16", /* and more */ },
    { "files": "model/weights.npy,*.gguf", "max-abs": 1e3, "as": "bf16", "max-error": "0.5" },
    { "files": "*", "only": "*norm*,data,blk*", "no-inf": true, "valid": false, },
  ],
}
P
dtinfo check --policy policy.json model/model.safetensors ./model/weights.npy; echo "exit $?"
echo "the command line is one more rule, for all files:"
dtinfo check --policy policy.json model/weights.npy --dtype int8; echo "exit $?"
dtinfo check --policy policy.json model/model.safetensors --json --threads 2 | grep -o -e '"policy_rule":[^,]*' -e '"name":"[^"]*"'
dtinfo check --policy policy.json model/model.safetensors model/weights.npy --jsonl -v | wc -l
