dtinfo check a --dtype 'fp8:*'
