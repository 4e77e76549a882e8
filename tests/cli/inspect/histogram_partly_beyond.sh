# more than 464 is beyond fp8_e4m3fn, though 448 has the same exponent
echo 500 464 463 448 -3 | dtinfo cast - fp32 --from text -o in.bin -q
dtinfo inspect in.bin --from fp32 --histogram
