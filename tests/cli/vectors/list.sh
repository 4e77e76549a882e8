dtinfo vectors --list | cut -d / -f 1 | uniq -c | sort -u -k 2 | sed 's/^ *[0-9]* *//'
dtinfo vectors --list | grep -E 'nvfp4|fp4_e2m1'
dtinfo vectors --list | wc -l
