printf '65504\nsixty\n65520\n' | dtinfo cast - fp16
