dtinfo cast 500 e4m3
