# P3109's formats among the readings of a pattern
dtinfo bits 0x7f | tail -n 3
dtinfo bits 0x7f --all | tail -n 3
