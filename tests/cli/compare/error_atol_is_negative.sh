dtinfo compare a b --atol -1
