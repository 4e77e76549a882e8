dtinfo mem 5x40 18446744073709551000 e4m3,int4 --jsonl 2>/dev/null
