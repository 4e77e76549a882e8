dtinfo verify a b c --recipe d
