# "1 element", "1 byte"; limits of several widths are told from each other
DTINFO_CPU=scalar dtinfo bench dot --size 1 --dtypes fp64,bf16 --time 0.001 -v | grep -o -e '^1 .*   cpu' -e '^  read [a-z0-9]* *portable loop' | LC_ALL=C sort -u
DTINFO_CPU=scalar dtinfo bench copy --size 1 --time 0.001 | grep -o '^1 byte   cpu'
