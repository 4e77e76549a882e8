# Only so many imports are listed, and only so many names are read back: the scan ends there, and says so.
cat > make.py <<'END'
def write(name, pickle):
    open(name, "wb").write(pickle + b".")
write("most.pkl", b"".join(b"cm\nf%d\n" % i for i in range(10000)))
write("more.pkl", b"".join(b"cm\nf%d\n" % i for i in range(10002)))
write("read.pkl", b"NN\x930" * 1000000)
write("not_read.pkl", b"NN\x930" * 1000002)
END
python3 make.py
for file in most.pkl more.pkl read.pkl not_read.pkl; do
    dtinfo check --pickle $file > out; echo "exit $?"
    head -n 2 out; tail -n 2 out
done
