# Precision by exponent; no overflow.
dtinfo finfo posit8
dtinfo finfo posit16 --json
