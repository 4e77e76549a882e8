# npy: column-major, other byte orders, dtypes that numpy lacks; npz
python3 "$MAKERS/make_checkpoint.py" . --others
dtinfo explain arrays.npz deflated.npz
dtinfo cast weights.npy bf16 -o b.npy -q 2>/dev/null
dtinfo explain weights.npy b.npy; echo "exit $?"
dtinfo explain weights.npy b.npy --assume bf16
python3 - <<'P'
import pathlib, struct
def npy(name, descr, fortran, data):
    head = b"{'descr': '%s', 'fortran_order': %s, 'shape': (2, 3), }" % (descr, fortran)
    head += b" " * (117 - len(head)) + b"\n"
    pathlib.Path(name).write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + data)
rows, columns = [0.1, 1.1, 2.1, 3.1, 4.1, 5.1], [0.1, 3.1, 1.1, 4.1, 2.1, 5.1]
npy("rows.npy", b"<f4", b"False", struct.pack("<6f", *rows))
npy("columns.npy", b"<f4", b"True", struct.pack("<6f", *columns))
npy("half_rows.npy", b"<f2", b"False", struct.pack("<6e", *rows))
npy("half_columns.npy", b"<f2", b"True", struct.pack("<6e", *columns))
npy("half_big.npy", b">f2", b"False", struct.pack(">6e", *rows))
npy("big.npy", b">f4", b"False", struct.pack(">6f", *rows))
P
for a in rows columns big; do
    for b in half_rows half_columns; do dtinfo explain $a.npy $b.npy; done
done
dtinfo explain rows.npy half_big.npy; echo "exit $?"
dtinfo explain big.npy big.npy
