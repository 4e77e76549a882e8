# Precision by exponent.
dtinfo finfo hif8 -v
dtinfo finfo hif8 --json
