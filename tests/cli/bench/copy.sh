dtinfo bench copy --threads 1 --size 64KiB --time 0.01 -v
