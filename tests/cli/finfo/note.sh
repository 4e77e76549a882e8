dtinfo finfo e4m3
