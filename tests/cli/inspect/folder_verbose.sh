python3 "$TESTS/make_checkpoint.py" model
dtinfo inspect -v model
