dtinfo quant 0.1 0.7 -3 7 q8_0 -v
dtinfo quant 0.1 0.7 -3 7 q4_0 -v
# half a step: 63.5 goes away from zero
dtinfo quant 127 63.5 -63.5 q8_0 -q
# the other side of the extreme clips: a 16 becomes 15
dtinfo quant -8 8 q4_0
