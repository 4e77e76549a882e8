# Decimals of 17 digits next to fp32 and fp16 numbers, with all digits of the error; and what does not fit into 128 bits.
printf '%s\n' 27.291172634835515 -0.004007854949257105 0.000000012345678901234567 -12345678901234567 9.5e-30 1e30 16777217 | dtinfo cast --jsonl - fp32,fp16
