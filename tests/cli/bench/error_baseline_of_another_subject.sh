dtinfo bench dot --dtypes fp32 --size 100 --time 0.01 --json >dot.json
dtinfo bench copy --baseline dot.json
