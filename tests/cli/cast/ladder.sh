dtinfo cast 70000 all
