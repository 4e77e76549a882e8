dtinfo bench copy --device gpu
