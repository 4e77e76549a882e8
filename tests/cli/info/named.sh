# Formats of others: what they are, what comes close, and its page; with JSON they are no dtypes.
dtinfo info dlfloat16
dtinfo info msfp12 BFP16 int8 mxint4
dtinfo info -q fp80
dtinfo info pxr24 --json
dtinfo cast 1 cfloat8
dtinfo cast 1 longdouble
dtinfo finfo fp128
