dtinfo list --json --jsonl
