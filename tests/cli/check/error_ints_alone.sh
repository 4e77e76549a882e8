dtinfo check a --ints
