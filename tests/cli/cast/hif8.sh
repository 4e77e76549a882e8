# Ties, the end of the range, the way to zero, and neighbours whose codes are in another order.
dtinfo cast 1.0625 40960 40961 0x1p-23 0x1.8p-16 -0 nan hif8
dtinfo cast 0x1p-23 40960 hif8 --round nearest-away
dtinfo cast 0.3 hif8
dtinfo cast 0.0038 hif8 --json
dtinfo quant 1 2 3 hif8
