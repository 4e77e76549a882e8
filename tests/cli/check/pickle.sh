cat > make.py <<'END'
import sys
sys.path.insert(0, sys.argv[1])
from make_pickles import archive, legacy, name, state, storage, tensor, text
run = name("os", "system") + b"(" + text("touch made") + b"tR"
computed = b"(" + text("sys") + text("tem") + b"tQ"
open("good.pt", "wb").write(archive(state({"a": tensor(), "b": tensor()})))
open("older.pth", "wb").write(legacy(state({"a": tensor(), "x": run})))
open("model.pt", "wb").write(archive(state({"x": run, "a": tensor()})))
open("zipped.pt", "wb").write(archive(state({"x": run, "a": tensor()}), method=8))
open("script.pt", "wb").write(archive(state({"a": tensor()}), more=[("archive/constants.pkl", b"cbuiltins\neval\n.")]))
open("text.pkl", "wb").write(b"(Vos\\u0073\np1\n0S'o\\x73'\nVsystem\n\x93(S'touch made'\ntR.")
open("two.pickle", "wb").write(b"\x80\4N." + b"\x80\4" + text("os") + computed + b"\x93)R\x82\5.")
open("names.pkl", "wb").write(b"cos\x1b[31m\nsys\xfftem\n.")
open("broken.pkl", "wb").write(run + b"X\xff\xff\xff\xffabc")
open("under.pkl", "wb").write(b"R" + run + b"\xff")
open("other.pkl", "wb").write(b"\x80\5\x96\3\0\0\0\0\0\0\0abc\x97\x98.")
END
python3 make.py "$MAKERS"
for file in good.pt older.pth model.pt zipped.pt script.pt text.pkl two.pickle names.pkl broken.pkl under.pkl other.pkl; do
    echo "--- $file"
    dtinfo check --pickle $file -v; echo "exit $?"
done
dtinfo check --pickle good.pt two.pickle broken.pkl --jsonl; echo "exit $?"
dtinfo check --pickle --valid --dtype fp32 good.pt
dtinfo check --pickle --dtype fp32 model.pt; echo "exit $?"
dtinfo check --pickle --valid model.pt; echo "exit $?"
: > empty.pkl
dtinfo check --pickle empty.pkl; echo "exit $?"
dtinfo check --pickle missing.pkl; echo "exit $?"
ls made 2>&1
python3 "$MAKERS/make_checkpoint.py" .
dtinfo check --pickle .
