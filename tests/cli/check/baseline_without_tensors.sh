# failures that concern no tensor are known by what they say, and pickles by the names of globals
python3 - <<'P'
import pathlib
def pickle(*names):
    return b"".join(b"c%s\nR0" % name if False else b"c%s\n0" % name for name in names) + b"N."
pathlib.Path("one.pkl").write_bytes(pickle(b"os\nsystem"))
pathlib.Path("twice.pkl").write_bytes(pickle(b"os\nsystem", b"os\nsystem"))
pathlib.Path("two.pkl").write_bytes(pickle(b"os\nsystem", b"os\npopen"))
long = b"m" * 300
pathlib.Path("long.pkl").write_bytes(pickle(long + b"\na"))
pathlib.Path("longer.pkl").write_bytes(pickle(long + b"\nb"))
P
try() {
    cp "$1" m.pkl; dtinfo check m.pkl --pickle --json > known.json
    cp "$2" m.pkl; dtinfo check m.pkl --pickle --baseline known.json | grep -v opcodes; echo
}
try one.pkl twice.pkl
try one.pkl two.pkl
try long.pkl longer.pkl | sed 's/mmm*/m/'
echo "a damaged file that is damaged in another way:"
printf 'xxxxxxxxxxxx' > m.safetensors
dtinfo check m.safetensors --no-nan --valid --json > known.json
dtinfo check m.safetensors --no-nan --valid --baseline known.json; echo "exit $?"
printf '\010\0\0\0\0\0\0\0{"a": 1}' > m.safetensors
dtinfo check m.safetensors --no-nan --valid --baseline known.json; echo "exit $?"
