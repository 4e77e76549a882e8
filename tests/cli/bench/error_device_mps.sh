dtinfo bench copy --device mps
