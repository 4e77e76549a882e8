# numbers as keys of dicts, of any size and sign, are names
python3 - "$MAKERS" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
from make_pickles import archive, number, tensor
keys = (7, -1, -(1 << 31), (1 << 31) - 1, 1 << 31, 1 << 32, (5 << 32) + 3, (1 << 63) - 1, -(1 << 63) + 1)
open("keys.pt", "wb").write(archive(b"\x80\x02}(" + b"".join(number(key) + tensor() for key in keys) + b"u."))
END
dtinfo inspect keys.pt -q
