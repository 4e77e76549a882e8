dtinfo finfo
