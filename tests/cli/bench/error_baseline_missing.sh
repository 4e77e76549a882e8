dtinfo bench copy --baseline none.json
