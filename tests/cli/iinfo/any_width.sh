exec 2>&1
dtinfo iinfo int3 uint7 int12 i24 ui48 uint63 int64
dtinfo iinfo torch.int3 --json
for name in int0 uint65 int012 i99999999999999999999 int128; do
    dtinfo iinfo "$name" || echo "exit $?"
done
dtinfo iinfo int3 --style torch || echo "exit $?"
