dtinfo list --ranges
LC_ALL=C.UTF-8 dtinfo list --ranges -q | head -n 4
LC_ALL=C.UTF-8 dtinfo list --ranges --ascii | tail -n 4
