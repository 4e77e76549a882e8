# box characters where the locale is UTF-8: LC_ALL, then LC_CTYPE, then LANG
LC_ALL=C.UTF-8 dtinfo cast 70000 bf16 | tail -n 3
LC_ALL= LC_CTYPE=en_US.utf8 dtinfo cast 0.1 fp16 | tail -n 3
LC_ALL= LANG=de_DE.UTF-8@euro dtinfo cast 1e9 fp16 | tail -n 3
# ASCII in other locales, or with --ascii
LC_ALL=POSIX LANG=C.UTF-8 dtinfo cast 1e-10 fp16 | tail -n 3
LC_ALL=C.UTF-8 dtinfo cast -5 uint8 --ascii | tail -n 3
# either end chosen; numbers close to an end
dtinfo cast 70000 bf16 --round zero | tail -n 3
dtinfo cast 69632.0001 bf16 --round up | tail -n 3
dtinfo cast 70143.9999 bf16 | tail -n 3
# a negative number
dtinfo cast -1.0001 fp8_e5m2 | tail -n 3
# no line: an exact result; a result that is its own neighbour; no neighbours; -q
dtinfo cast 1.5 fp16 | tail -n 1
dtinfo cast 1e10 fp32 --via fp16 | tail -n 1
dtinfo cast 0.5 bool | tail -n 1
dtinfo cast inf fp4_e2m1 | tail -n 1
dtinfo cast 70000 bf16 -q
# a long number is cut
dtinfo cast 0.1000000000000000000000000000000000000000000000000000000000000000001 fp32 | tail -n 3
dtinfo cast -123456789012345678901234567890 fp64 | tail -n 3
dtinfo cast 999999999999999999999999999999999999999999999999999999999999999 fp16 | tail -n 3
# narrow terminals get a shorter line, or none
python3 - <<'END'
import fcntl, os, pty, struct, subprocess, termios
for columns in (120, 77, 54, 53, 10):
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    for words in ("cast 70000 bf16", "list --ranges"):
        subprocess.run(["dtinfo", *words.split()], stdout=terminal, check=True)
    os.close(terminal)
    text = b""
    try:
        while piece := os.read(controller, 65536):
            text += piece
    except OSError:  # the end of a terminal
        pass
    lines = [line for line in text.decode().splitlines() if "--" in line or "##" in line]
    print(columns, "\n".join(lines[:3] + lines[-1:]), sep="\n")
END
