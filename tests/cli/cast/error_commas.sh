exec 2>&1
for number in 70,000 -70,000 7,5 0,125 1,234,567 70,0000 12,345.5 ,5 '5,'; do
    dtinfo cast "$number" bf16
done
