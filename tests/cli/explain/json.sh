# what verify reads, and where a recipe differs
python3 "$MAKERS/make_checkpoint.py" . --others
dtinfo cast weights.npy fp16 --round up -o up.npy -q
dtinfo explain weights.npy up.npy --json
python3 -c 'import pathlib; p = pathlib.Path("up.npy"); d = bytearray(p.read_bytes()); d[150] ^= 64; p.write_bytes(d)'
dtinfo explain weights.npy up.npy --json; echo "exit $?"
dtinfo explain weights.npy up.npy -q; echo "exit $?"
