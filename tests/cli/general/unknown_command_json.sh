dtinfo --json csat
