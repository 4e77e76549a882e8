# the exact form of a power of two has at most 300000 characters: 0. and the 299998 decimals of 2^-299998
dtinfo cast 0x1p-299998 0x1p-299999 fp32 --json | grep -o '"text":"0x1p[^}]*' | sed 's/.*"exact"://; s/"//g' |
    awk '{ print (/null/ ? $0 : length($0)) }'
