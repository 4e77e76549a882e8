dtinfo cast -h
dtinfo finfo -h
dtinfo help -h
