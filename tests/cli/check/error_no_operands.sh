dtinfo check
