dtinfo inspect x --stats --max-memory 1M
