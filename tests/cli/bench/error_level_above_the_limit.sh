# needs avx2
DTINFO_CPU=scalar dtinfo bench cast --level avx2
