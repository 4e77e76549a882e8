dtinfo cast 1 2 3
