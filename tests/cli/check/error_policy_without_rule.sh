# a file without a rule is never right, whatever else is asserted
python3 "$MAKERS/make_checkpoint.py" model --single --others
echo '{"rules": [{"files": "*.safetensors"}]}' > p.json
dtinfo check --policy p.json model/model.safetensors model/weights.npy --valid; echo "exit $?"
dtinfo check --policy p.json model/model.safetensors/ 2>&1 | sed 's/:.*//'
