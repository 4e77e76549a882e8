# with --all the P3109 formats are drawn too, and no line says that they are not
dtinfo list --ranges --all | grep -c binary
dtinfo list --ranges --all | grep -c 'not shown' || true
