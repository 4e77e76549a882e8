# the most fields that are read in Fortran order, and one more
python3 - <<'END'
for count in (64, 65):
    text = "{'descr': [%s], 'fortran_order': True, 'shape': (2, 2), }" % ", ".join("('f%d', '<f4')" % i for i in range(count))
    text += " " * (-(len(text) + 13) % 64) + "\n"
    open("%d.npy" % count, "wb").write(b"\x93NUMPY\2\0" + len(text).to_bytes(4, "little") + text.encode() + bytes(16 * count))
END
for count in 64 65
do
    dtinfo inspect $count.npy -q 2>&1 | tail -n 1
done
