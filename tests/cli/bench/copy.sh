dtinfo bench copy --size 64KiB --time 0.01 -v
