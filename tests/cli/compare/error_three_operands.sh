dtinfo compare a b c
