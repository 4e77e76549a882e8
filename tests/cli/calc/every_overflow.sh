# of a long list each overflow is counted, also that of a number met before: of 41 to 4096, and of 41 each time
dtinfo calc 'arange(0, 4097, 1)^3' fp16 --true-value never --steps
dtinfo calc 'repeat(41, 4096)^3' fp16 --true-value never --steps
