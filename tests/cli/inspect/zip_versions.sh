# the newest version of the zip format that is read, and the next one
python3 - <<'END'
import io, zipfile
header = b"\x93NUMPY\1\0v\0" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }".ljust(117) + b"\n"
memory = io.BytesIO()
with zipfile.ZipFile(memory, "w") as file:
    file.writestr("a.npy", header + b"\0\0\x80?")
data = memory.getvalue()
entry = data.index(b"PK\1\2")
for version in (63, 64):
    open("%d.npz" % version, "wb").write(data[:entry + 6] + bytes([version]) + data[entry + 7:])
END
for version in 63 64
do
    dtinfo inspect $version.npz -q 2>&1; echo "exit $?"
done
