dtinfo compare
