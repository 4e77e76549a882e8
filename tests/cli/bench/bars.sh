# bars stand beside the share where a terminal has room for them, and lines still fit
python3 - <<'END'
import fcntl, os, pty, re, struct, subprocess, termios

def printed(words, columns, **environment):
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = subprocess.Popen(["dtinfo", "bench", *words.split()], stdout=terminal,
                             env={**os.environ, "DTINFO_CPU": "scalar", **environment})
    os.close(terminal)
    text = b""
    try:
        while piece := os.read(controller, 65536):
            text += piece
    except OSError:  # the end of a terminal
        pass
    child.wait()
    return text.decode().replace("\r", "").splitlines()

for words in ("cast fp32:bf16 --size 4KiB --time 0.001", "dot --size 1000 --dtypes fp32 --time 0.001"):
    for columns, locale in ((80, "C"), (90, "C"), (91, "C"), (91, "C.UTF-8"), (120, "C.UTF-8")):
        for attempt in range(3):  # the bar of a cast that was interrupted is empty
            lines = printed(words, columns, LC_ALL=locale)
            bars = [line for line in lines if re.search(" %.*  [#:\u2588-\u258f]+( |$)", line)]
            if bars:
                break
        kind = "no bars" if not bars else "ASCII bars" if "".join(bars).isascii() else "box bars"
        print(words.split()[0], columns, locale, kind,
              "too long" if max(map(len, lines)) > columns else "fit")
END
