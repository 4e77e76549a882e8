dtinfo cast 0.1 all
