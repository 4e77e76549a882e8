dtinfo --json
