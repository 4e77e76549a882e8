dtinfo check a --max-abs -1
