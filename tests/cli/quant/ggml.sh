dtinfo quant 0.1 0.7 -3 7 q8_0 -v
dtinfo quant 0.1 0.7 -3 7 q4_0 -v
# ties round away from zero: 63.5
dtinfo quant 127 63.5 -63.5 q8_0 -q
# the side opposite the extreme clips: 16 becomes 15
dtinfo quant -8 8 q4_0
