dtinfo compare a b --shape 2,3
