# a difference from an element's own maximum is 0 by design, that from a rounded copy is a cancellation
dtinfo calc 'x = [1, 2]/3; x - max(x)' bf16 --true-value never
dtinfo calc 'x = 1.1*3; abs(x) - x' bf16 --true-value never
dtinfo calc 'x = 1.1*3; x - abs(x)' bf16 --true-value never
