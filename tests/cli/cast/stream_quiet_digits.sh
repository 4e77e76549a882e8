# Decimals of all lengths, with signs, points and zeros in all places, and lines that end in CR LF or not at all.
{
    for text in 1 12345678 123456789 1234567890123456 12345678901234567 1234567890123456789 12345678901234567890; do
        printf -- '-%s\n+%s.\n.%s\n0.%s\n000%s.000\n1.%s\n0.00000000000%s\n%s_0\n%se-20\n' $text $text $text $text $text $text $text $text $text
    done
    printf '0.1\r\n1.5'
} > lines.txt
dtinfo cast - fp32 -q < lines.txt > fp32.txt
dtinfo cast - bf16,fp16 -q < lines.txt | paste - - | paste fp32.txt -
