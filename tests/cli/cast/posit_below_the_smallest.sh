dtinfo cast 1e-20 posit8
dtinfo cast -1e-20 posit16
