dtinfo cast - bf16 </dev/null
