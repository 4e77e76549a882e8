dtinfo bench copy --max-regression 10%
