dtinfo cast 70000 bf61 --json
