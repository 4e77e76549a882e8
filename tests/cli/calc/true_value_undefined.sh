# what has no value in mathematics has no digits either, and nothing goes on behind "nan"
dtinfo calc 1/0 fp16
dtinfo calc 'sqrt(-1)' bf16
dtinfo calc 'inf - inf' fp32,fp16
