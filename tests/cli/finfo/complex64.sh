dtinfo finfo complex64
