dtinfo bench copy --baseline a --compare b
