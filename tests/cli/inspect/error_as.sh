python3 "$MAKERS/make_checkpoint.py" . --others
try() { dtinfo inspect weights.npy "$@" 2>&1; echo "exit $?"; }
try --as bf61
try --as ''
try --as complex64
try --as bf16 --tree
try --as bf16 -q
try --as bf16 --digest
