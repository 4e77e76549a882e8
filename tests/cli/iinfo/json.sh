dtinfo iinfo uint64 int64 --json | grep -o '"\(value\|text\)":["0-9-]*'
