# the opcode OBJ with a class and no arguments: what was on the stack before, a list of pairs, is none
PYTHONPATH="$MAKERS" python3 - <<'END'
from make_pickles import archive, name, tensor, text
before = b"N](" + text("before") + tensor() + b"\x86e00"  # a list of one pair
made = b"(" + name("collections", "OrderedDict") + b"o"
with open("object.pt", "wb") as file:
    file.write(archive(b"\x80\x02" + before + made + text("weight") + tensor() + b"s."))
END
dtinfo inspect object.pt
