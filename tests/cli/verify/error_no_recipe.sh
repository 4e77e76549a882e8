dtinfo verify a b
