dtinfo cast 0.1 e3m4
dtinfo cast 0.1 e6m9
