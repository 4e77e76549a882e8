dtinfo bench copy --size 4194304TiB
