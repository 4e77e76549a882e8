for value in 0 1 1.4 1.5 3 0x1.66p-127 0x1p-127 0x1p-128 0x1.8p+127 inf -1 nan; do
    dtinfo cast $value fp8_e8m0 --jsonl | sed 's/.*"text":"\([^"]*\)","shortest.*"bits":"\(0x..\)","fields.*/\1 \2/'
done
