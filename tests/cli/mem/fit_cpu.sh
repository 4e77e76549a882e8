# needs /proc/meminfo
dtinfo mem 1K bf16 --fit cpu
