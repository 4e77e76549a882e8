dtinfo compare a b --bitwise --rtol 1e-3
