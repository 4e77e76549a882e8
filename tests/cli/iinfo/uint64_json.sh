dtinfo iinfo uint64 --json
