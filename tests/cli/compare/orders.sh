# the order in which an array lies in its file is no difference; places are those of the array
python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import npy, pack
pathlib.Path("rows.npy").write_bytes(npy("<f4", (2, 3), pack("F32", [1, 2, 3, 4, 5, 6])))
pathlib.Path("columns.npy").write_bytes(npy("<f4", (2, 3), pack("F32", [1, 4, 2, 5, 3, 6]), fortran=True))
pathlib.Path("other.npy").write_bytes(npy("<f2", (2, 3), pack("F16", [1, 4, 2, 5, 3, 7]), fortran=True))
P
dtinfo compare rows.npy columns.npy
dtinfo compare columns.npy rows.npy --bitwise
dtinfo compare rows.npy other.npy; echo "exit $?"
dtinfo compare other.npy rows.npy; echo "exit $?"
dtinfo cast columns.npy fp32 -o rows.safetensors -q && dtinfo compare columns.npy rows.safetensors
