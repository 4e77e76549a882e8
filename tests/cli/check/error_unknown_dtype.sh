dtinfo check a --fits bf61
