dtinfo explain a b c
