echo 1 >in.txt
DTINFO_CPU=avx3 dtinfo cast in.txt bf16 --from text --as text
