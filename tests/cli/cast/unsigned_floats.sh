exec 2>&1
dtinfo cast 460 ue4m3,ue5m3,ue3m4,ue4m3b7
for value in 464 464.1 118784 118785 -0.0009 -0.001 nan; do
    dtinfo cast -q -- "$value" ue4m3,ue5m3
done
dtinfo cast -q -- -1 ue4m3
dtinfo cast -q --overflow saturate -- -1 ue4m3
printf '\070\270\377\176' > ue.bin
dtinfo cast ue.bin fp32 --from ue4m3 --as text
dtinfo cast ue.bin ue4m3 --from ue4m3 -o out.bin -q && od -An -tx1 out.bin
dtinfo cast ue.bin fp32 --from ue4m3 --packing low -o x.bin || echo "exit $?"
dtinfo inspect ue.bin --from ue4m3 --packing low || echo "exit $?"
dtinfo mem 1e9 ue4m3,ue5m3,ue3m4
