dtinfo list -q >quiet
dtinfo list --names >names
cmp quiet names && wc -l <names
dtinfo list --field dtype,bits,max | head -n 3
dtinfo list --field element
# a line for each dtype and each block format
dtinfo list --jsonl | wc -l
dtinfo list --jsonl | head -n 1 | grep -o '"dtype":"[a-z0-9_]*"'
dtinfo list --jsonl | tail -n 1
