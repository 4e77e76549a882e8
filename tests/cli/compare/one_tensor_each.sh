# npy has no names; another kind, order and dtype of one tensor
python3 "$MAKERS/make_checkpoint.py" . --others
dtinfo compare weights.npy arrays.npz --only 'half,data' -v; echo "exit $?"
dtinfo compare arrays.npz deflated.npz --bitwise
dtinfo compare arrays.npz deflated.npz --only weight
dtinfo compare weights.npy arrays.npz; echo "exit $?"
