dtinfo cast 70000
