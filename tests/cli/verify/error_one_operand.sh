dtinfo verify a --recipe b
