# Ctrl-C, which a terminal echoes behind the bar, leaves nothing of the bar on the screen
python3 - <<'END'
import fcntl, json, os, pty, struct, subprocess, termios

COLUMNS, BYTES = 60, 16 << 30  # a sparse file: all zeros, read for as long as it takes
NAME = b"  model."  # what a line has room for when hours are to go
header = json.dumps({"model.layers.0.self_attn.q_proj.weight.of.a.long.name": {
    "dtype": "F32", "shape": [BYTES // 4], "data_offsets": [0, BYTES]}}).encode()
with open("large.safetensors", "wb") as file:
    file.write(struct.pack("<Q", len(header)) + header)
    file.truncate(8 + len(header) + BYTES)

controller, terminal = pty.openpty()
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
child = subprocess.Popen(["dtinfo", "inspect", "--stats", "--threads", "1", "large.safetensors"],
                         stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True,
                         preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
os.close(terminal)
text = b""
try:
    while piece := os.read(controller, 65536):
        if NAME in piece and NAME not in text:
            os.write(controller, b"\x03")
        text += piece
except OSError:  # the end of a terminal
    pass

rows, column = [" " * COLUMNS], 0  # as a terminal shows it: a full row wraps at the next letter
for letter in text.decode():
    if letter == "\r":
        column = 0
    elif letter == "\n":
        rows.append(" " * COLUMNS)
    else:
        if column == COLUMNS:
            rows.append(" " * COLUMNS)
            column = 0
        rows[-1] = rows[-1][:column] + letter + rows[-1][column + 1:]
        column += 1
print("a bar with a name", NAME in text, "and an echo", b"^C" in text)
print("rows", len(rows), "left on them", [row.strip() for row in rows], "ended by signal", -child.wait())
END
