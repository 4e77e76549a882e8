# In the lines of a stream, text that reaches beyond a column pushes what follows by two blanks; styles
# change nothing else.
printf '%s\n' 123456789012345678901234567890123456789012345678901234567890 0x1.8p-140 1e-40 -1234567.125 \
    0.1 nan 1e400 > numbers.txt
dtinfo cast - fp64 < numbers.txt | tee plain.txt
dtinfo cast - fp8_e4m3fnuz < numbers.txt
dtinfo cast - fp64 --color always < numbers.txt | sed 's/\x1b\[[0-9;]*m//g' | cmp - plain.txt && echo same
