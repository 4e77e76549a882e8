# Dicts made of lists of pairs, as Python 2 wrote them; lists that are met again; and elements of less than a byte.
cat > make.py <<'END'
import sys
sys.path.insert(0, sys.argv[1])
from make_pickles import HOOKS, archive, legacy, name, number, numbers, state, storage, tensor, text
ordered = name("collections", "OrderedDict")
pairs = b"](" + b"".join(b"](" + text(key) + value + b"e" for key, value in
                         {"x": tensor(shape=(2,), strides=(1,)), "y": tensor(offset=2, shape=(2,), strides=(1,))}.items()) + b"e"
open("pairs.pt", "wb").write(archive(state({"d": ordered + pairs + b"\x85R", "none": ordered + b"N\x85R"})))
open("odd.pt", "wb").write(archive(state({"d": ordered + b"](" + text("x") + number(1) + b"e\x85R"})))
again = {"first": b"](" + tensor() + b"eq\1", "second": b"h\1"}
open("once.pt", "wb").write(archive(state(again)))
open("twice.pt", "wb").write(archive(state({**again, "third": b"h\1"})))
many = b"](" + (b"](" + text("k") + number(1) + b"eq\1") + b"h\1" * 99 + b"eq\2"
open("many.pt", "wb").write(legacy(state({"list": many, "dicts": b"](" + b"".join(
    (ordered + b"q\3" if i == 0 else b"h\3") + b"h\2\x85R" for i in range(30)) + b"e"}), []).replace(b"\x88s.", b"\x88s" + text("pad") + text("." * 5000) + b"s."))
small = b"(" + text("storage") + name("torch.storage", "UntypedStorage") + text("0") + text("cpu") + number(16) + b"tQ"
open("small.pt", "wb").write(archive(state({"int4": name("torch._utils", "_rebuild_tensor_v3") + b"(" + small + number(0) +
    numbers((16,)) + numbers((1,)) + b"\x89" + HOOKS + name("torch", "int4") + b"tR"})))
END
python3 make.py "$MAKERS"
for file in pairs odd once twice many small; do
    dtinfo inspect $file.pt -v 2>&1; echo "exit $?"
done
