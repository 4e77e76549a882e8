dtinfo compare a b --rtol 1%
