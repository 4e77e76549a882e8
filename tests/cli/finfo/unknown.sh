dtinfo finfo bf61
