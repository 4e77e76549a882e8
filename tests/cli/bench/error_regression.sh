dtinfo bench copy --baseline none.json --max-regression 0.1
