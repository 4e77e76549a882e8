# The same colour for the same field in every row. An unsigned float begins with its exponent, a
# complex number's second half with a sign again, and an integer has no fields.
dtinfo --color always bits 0x89
dtinfo --color always bits 0x3f80000080000001 --columns dtype,fields
